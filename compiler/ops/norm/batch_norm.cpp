// BatchNormalization: y = x * s + t with s = scale / sqrt(var + epsilon), t = bias - mean * s. With constant
// parameters, s and t are constants, which fold_scales moves into the preceding weights. In training, mean and
// variance are those of the batch, and the running ones are outputs.
#include <fmt/format.h>

#include "compiler/ops/in_float.h"
#include "compiler/ops/norm/norm.h"
#include "compiler/ops/reduce/reduce.h"

namespace onnxc {
namespace {

/// Before opset 14, training was indicated by additional outputs (the running statistics and those of the batch);
/// before opset 7, by is_test.
void resolve_batch_norm(GraphBuilder&, Node& node) {
  if (node.version >= 14) return;
  bool training = node.version < 7 && node.integer("is_test", 0) == 0;
  for (std::size_t i = 1; i < node.outputs.size() && node.version >= 7; ++i) training = training || node.outputs[i] != kAbsent;
  if (node.version < 7 && !training) node.outputs.resize(1);
  node.attributes["training_mode"] = int64_t{training};
  node.attributes.erase("is_test");
  node.attributes.erase("consumed_inputs");
}

void infer_batch_norm(Inference& n) {
  const Extents& x = n.extents(0);
  if (x.size() < 2) n.fail(fmt::format("the input has rank {}; [n, c, spatial...] is needed", x.size()));
  if (n.node().integer("spatial", 1) != 0) {
    for (int i = 1; i <= 4; ++i)
      n.unify(n.rank(i) == 1 ? n.extents(i)[0] : Dim(-1), x[1], "the channels of the input and of the parameters");
    // Parameters are given for each position, or only for channels if it is not training.
  } else {
    for (int i = 1; i <= 4 && n.node().integer("training_mode", 0) != 0; ++i) {
      if (n.rank(i) + 1 != static_cast<int>(x.size()))
        n.fail(fmt::format("input {} has shape {}; one for each position of {} is needed with spatial=0", i, text(n.extents(i)), text(x)));
      for (std::size_t k = 1; k < x.size(); ++k) n.unify(n.extents(i)[k - 1], x[k], "the positions of the input and of the parameters");
    }
  }
  const bool training = n.node().integer("training_mode", 0) != 0;
  if (!training && (n.node().has_output(1) || n.node().has_output(2))) n.fail("running statistics are outputs without training_mode");
  for (int i = 1; i <= 4; ++i) n.output(i, n.element(i % 2 == 1 ? 3 : 4), n.extents(i % 2 == 1 ? 3 : 4));
  n.output(0, n.type(0));
}

/// next = running * momentum + now * (1 - momentum)
ValueId blend(GraphBuilder& b, ValueId running, ValueId now, double momentum) {
  Expr e;
  const ElementType type = b.type(now).element;
  e.finish(e.apply(Fn::Add, e.apply(Fn::Mul, e.input(0, type), e.constant(type, momentum)),
                   e.apply(Fn::Mul, e.input(1, type), e.constant(type, 1 - momentum))));
  return b.map(std::move(e), {running, now});
}

std::optional<std::vector<ValueId>> decompose_batch_norm(GraphBuilder& b, const Node& node) {
  // The widest of the types, but at least f32.
  ElementType type = ElementType::F32;
  for (int i = 0; i < 5; ++i) type = b.type(node.input(i)).element == ElementType::F64 ? ElementType::F64 : type;
  ValueId in[5];
  for (int i = 0; i < 5; ++i) in[i] = cast_to(b, node.input(i), type);
  const int rank = b.rank(in[0]);
  const bool training = node.integer("training_mode", 0) != 0;
  const float epsilon = node.number("epsilon", 1e-5f);
  ValueId x = in[0], mean = in[3], variance = in[4];
  // Before opset 9, spatial=0 gave every position its own parameters.
  const bool spatial = node.integer("spatial", 1) != 0;
  if (training) {
    std::vector<int64_t> axes{0};
    for (int64_t axis = 2; axis < rank && spatial; ++axis) axes.push_back(axis);
    const ValueId centre = mean_along(b, x, axes), d = b.op("Sub", {x, centre});
    const ValueId spread = mean_along(b, b.op("Mul", {d, d}), axes);
    mean = b.op("Squeeze", {centre, b.integers(axes)});
    variance = b.op("Squeeze", {spread, b.integers(axes)});
  }
  const ValueId scale = b.op("Mul", {in[1], inverse_deviation(b, variance, epsilon)});
  const ValueId shift = b.op("Sub", {in[2], b.op("Mul", {mean, scale})});
  const auto factor = [&](ValueId v) { return spatial ? along_channels(b, v, rank) : v; };
  const ValueId y = b.op("Add", {b.op("Mul", {x, factor(scale)}), factor(shift)});
  std::vector<ValueId> results{cast_to(b, y, b.type(node.outputs[0]).element)};
  const double momentum = static_cast<double>(node.number("momentum", 0.9f));
  for (int i = 1; i < static_cast<int>(node.outputs.size()); ++i) {
    const ValueId out = node.outputs[static_cast<std::size_t>(i)];
    const ValueId now = i % 2 == 1 ? mean : variance;  // outputs 3 and 4 are those of the batch
    results.push_back(out == kAbsent ? kAbsent : cast_to(b, i < 3 ? blend(b, in[i + 2], now, momentum) : now, b.type(out).element));
  }
  return results;
}

}  // namespace

extern const Operator op_BatchNormalization;
const Operator op_BatchNormalization{.name = "BatchNormalization",
                                     .min_inputs = 5,
                                     .max_inputs = 5,
                                     .max_outputs = 5,
                                     .resolve = resolve_batch_norm,
                                     .infer = infer_batch_norm,
                                     .decompose = decompose_batch_norm};

}  // namespace onnxc
