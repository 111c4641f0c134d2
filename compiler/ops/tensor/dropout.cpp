// Dropout. At inference: the input unchanged, and a mask that keeps everything. In training: each element is kept
// with probability 1 - ratio, and divided by it. Ratio and mode may be known only to a run.
#include <fmt/format.h>

#include "compiler/ops/in_float.h"
#include "compiler/ops/kernel_query.h"
#include "compiler/ops/random/stream.h"

namespace onnxc {
namespace {

/// Before opset 12 ratio and mode were attributes, and opsets from 7 on had no training. Before opset 10 the mask had
/// the type of the data.
void resolve_dropout(GraphBuilder& b, Node& node) {
  choose_stream(b.graph(), node);
  if (node.version >= 12) return;
  if (node.version < 10) node.attributes["typed_mask"] = int64_t{1};
  node.inputs.resize(1);
}

void infer_dropout(Inference& n) {
  for (int i = 1; i <= 2; ++i) {
    if (n.has(i) && !(element_count(n.extents(i)) == Dim(1)))
      n.fail(fmt::format("input {} has shape {}; ratio and training_mode are scalars", i, text(n.extents(i))));
  }
  if (n.has(1) && !is_float(n.element(1))) n.fail(fmt::format("the ratio is {}, not a float", name(n.element(1))));
  if (n.has(2) && n.element(2) != ElementType::Bool) n.fail(fmt::format("training_mode is {}, not bool", name(n.element(2))));
  if (const TensorData* ratio = n.constant(1); ratio != nullptr && !(to_doubles(*ratio)[0] >= 0 && to_doubles(*ratio)[0] <= 1))
    n.fail(fmt::format("the ratio is {}", to_doubles(*ratio)[0]));
  n.output(0, n.type(0));
  n.output(1, n.node().has("typed_mask") ? n.element(0) : ElementType::Bool, n.extents(0));
}

/// Everything is kept.
std::vector<ValueId> pass_through(GraphBuilder& b, const Node& node) {
  std::vector<ValueId> results{node.inputs[0]};
  if (!node.has_output(1)) return results;
  const ElementType type = b.graph()[node.output(1)].type.element;
  auto one = std::make_shared<TensorData>(TensorData::zeros(type, {1}));
  const uint64_t bits = to_bits(type, 1);
  std::memcpy(one->bytes.data(), &bits, one->bytes.size());
  results.push_back(b.op("ConstantOfShape", {b.op("Shape", {node.inputs[0]})}, {{"value", Constant(one)}}));
  return results;
}

std::optional<std::vector<ValueId>> decompose_dropout(GraphBuilder& b, const Node& node) {
  const auto constant = [&](int i) { return node.has_input(i) ? b.graph().constant(node.input(i)) : nullptr; };
  const TensorData *ratio_value = constant(1), *training = constant(2);
  if (!node.has_input(2) || (training != nullptr && training->bytes[0] == std::byte{0})) return pass_through(b, node);
  if (ratio_value != nullptr && to_doubles(*ratio_value)[0] == 0) return pass_through(b, node);
  const ValueId x = node.inputs[0];
  const ElementType type = b.type(x).element == ElementType::F64 ? ElementType::F64 : ElementType::F32;
  const auto scalar = [&](ValueId v) { return b.op("Reshape", {v, b.integers({})}); };
  const ValueId ratio = node.has_input(1) ? scalar(cast_to(b, node.input(1), type)) : b.number(type, 0.5);
  const ValueId u = b.op("RandomUniformLike", {x}, {{"stream", node.integer("stream", 0)}, {"dtype", static_cast<int64_t>(type)}});
  ValueId keep = b.op("GreaterOrEqual", {u, ratio});
  ValueId scale = b.op("Reciprocal", {b.op("Sub", {b.number(type, 1), ratio})});
  if (training == nullptr) {
    const ValueId mode = scalar(node.input(2));
    keep = b.op("Or", {keep, b.op("Not", {mode})});
    scale = b.op("Where", {mode, scale, b.number(type, 1)});
  }
  const ValueId y = b.op("Where", {keep, b.op("Mul", {cast_to(b, x, type), scale}), b.number(type, 0)});
  std::vector<ValueId> results{cast_to(b, y, b.type(x).element)};
  if (node.has_output(1)) results.push_back(cast_to(b, keep, b.graph()[node.output(1)].type.element));
  return results;
}

}  // namespace

extern const Operator op_Dropout;
const Operator op_Dropout{.name = "Dropout",
                          .min_inputs = 1,
                          .max_inputs = 3,
                          .max_outputs = 2,
                          .resolve = resolve_dropout,
                          .infer = infer_dropout,
                          .decompose = decompose_dropout};

}  // namespace onnxc
