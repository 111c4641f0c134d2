// com.microsoft's operators on quantised tensors: elementwise ones, concatenation, pooling and Softmax. Each is an
// operator of ONNX between DequantizeLinear and QuantizeLinear.
//
// A scale is one value, and so is a zero point, which is 0 if it is absent.
#include <fmt/format.h>

#include "compiler/ops/in_float.h"
#include "compiler/ops/quant/linear.h"
#include "compiler/ops/quant/need.h"

namespace onnxc {
namespace {

/// Checks a scale, and the zero point after it, which has the type of input `of`.
void need_scale(Inference& n, int scale, int of) {
  if (!(element_count(n.extents(scale)) == Dim(1)))
    n.fail(fmt::format("input {} has shape {}; a scale is one value", scale, text(n.extents(scale))));
  if (n.element(scale) != ElementType::F32) n.fail(fmt::format("input {} is {}; a scale is f32", scale, name(n.element(scale))));
  if (!n.has(scale + 1)) return;
  if (!(element_count(n.extents(scale + 1)) == Dim(1)))
    n.fail(fmt::format("input {} has shape {}; a zero point is one value", scale + 1, text(n.extents(scale + 1))));
  if (of >= 0 && n.element(scale + 1) != n.element(of))
    n.fail(fmt::format("input {} is {}, not {}", scale + 1, name(n.element(scale + 1)), name(n.element(of))));
}

ValueId real(GraphBuilder& b, const Node& node, int i) {
  return to_real(b, node.input(i), as_scalar(b, node.input(i + 1)), as_scalar(b, node.input(i + 2)));
}
std::vector<ValueId> quantised(GraphBuilder& b, const Node& node, ValueId value, int scale) {
  return {to_quantised(b, value, as_scalar(b, node.input(scale)), as_scalar(b, node.input(scale + 1)), b.type(node.outputs[0]).element)};
}

// ---- two operands, one

void infer_binary(Inference& n) {
  need_byte(n, 0);
  if (n.element(3) != n.element(0)) n.fail(fmt::format("the operands are {} and {}", name(n.element(0)), name(n.element(3))));
  for (int scale : {1, 4, 6}) need_scale(n, scale, 0);
  n.output(0, n.element(0), n.broadcast({n.extents(0), n.extents(3)}));
}
std::optional<std::vector<ValueId>> decompose_binary(GraphBuilder& b, const Node& node) {
  return quantised(b, node, b.op(node.op == "QLinearAdd" ? "Add" : "Mul", {real(b, node, 0), real(b, node, 3)}), 6);
}

void infer_unary(Inference& n) {
  need_byte(n, 0);
  for (int scale : {1, 3}) need_scale(n, scale, 0);
  n.output(0, n.element(0), n.extents(0));
}
std::optional<std::vector<ValueId>> decompose_unary(GraphBuilder& b, const Node& node) {
  const ValueId x = real(b, node, 0);
  if (node.op == "QLinearSigmoid") return quantised(b, node, b.op("Sigmoid", {x}), 3);
  return quantised(b, node, b.op("LeakyRelu", {x}, {{"alpha", node.number("alpha", 0.01f)}}), 3);
}

void infer_byte_softmax(Inference& n) {
  infer_unary(n);
  static_cast<void>(n.axis(n.node().integer("axis", -1), n.rank(0)));
}
std::optional<std::vector<ValueId>> decompose_byte_softmax(GraphBuilder& b, const Node& node) {
  const int64_t rank = b.rank(node.input(0)), given = node.integer("axis", -1), axis = given < 0 ? given + rank : given;
  const ValueId x = real(b, node, 0);
  b.in_floats(no_byte_form("Softmax"));
  if (node.integer("opset", 13) >= 13) return quantised(b, node, b.op("Softmax", {x}, {{"axis", axis}}), 3);
  // Over all axes from `axis` on.
  const Extents extents = b.extents(node.input(0));
  const ValueId flat = b.op("Softmax", {b.op("Flatten", {x}, {{"axis", axis}})}, {{"axis", int64_t{1}}});
  return quantised(b, node, b.op("Reshape", {flat, b.shape(extents)}, {{"allowzero", int64_t{1}}}), 3);
}

void infer_where(Inference& n) {
  if (n.element(0) != ElementType::Bool) n.fail(fmt::format("the condition is {}", name(n.element(0))));
  need_byte(n, 1);
  if (n.element(4) != n.element(1)) n.fail(fmt::format("the operands are {} and {}", name(n.element(1)), name(n.element(4))));
  for (int scale : {2, 5, 7}) need_scale(n, scale, 1);
  n.output(0, n.element(1), n.broadcast({n.extents(0), n.extents(1), n.extents(4)}));
}
std::optional<std::vector<ValueId>> decompose_where(GraphBuilder& b, const Node& node) {
  return quantised(b, node, b.op("Where", {node.input(0), real(b, node, 1), real(b, node, 4)}), 7);
}

// ---- QLinearConcat: y_scale, y_zero, then x, scale, zero of each

void infer_concat(Inference& n) {
  const int inputs = n.node().own_inputs();
  if (inputs < 5 || (inputs - 2) % 3 != 0) n.fail(fmt::format("has {} inputs; 2 and 3 for each tensor are needed", inputs));
  need_scale(n, 0, 2);
  Extents out = n.extents(2);
  const int axis = n.axis(n.node().integer("axis", 0), n.rank(2));
  for (int i = 2; i < inputs; i += 3) {
    need_byte(n, i);
    need_scale(n, i + 1, i);
    if (n.rank(i) != n.rank(2)) n.fail(fmt::format("tensors of ranks {} and {}", n.rank(2), n.rank(i)));
    if (i == 2) continue;
    for (int k = 0; k < n.rank(2); ++k) {
      const auto at = static_cast<std::size_t>(k);
      if (k == axis) out[at] += n.extents(i)[at];
      else n.unify(out[at], n.extents(i)[at], "the tensors beside the axis");
    }
  }
  n.output(0, n.element(2), std::move(out));
}
std::optional<std::vector<ValueId>> decompose_concat(GraphBuilder& b, const Node& node) {
  // Each operand is requantised first, so that large tensors are moved as bytes.
  const ElementType type = b.type(node.outputs[0]).element;
  std::vector<ValueId> parts;
  for (int i = 2; i < node.own_inputs(); i += 3)
    parts.push_back(to_quantised(b, real(b, node, i), as_scalar(b, node.input(0)), as_scalar(b, node.input(1)), type));
  return std::vector{b.op("Concat", std::move(parts), {{"axis", node.integer("axis", 0)}})};
}

// ---- pools, channels last too

std::vector<int64_t> to_channels_first(int64_t rank) {
  std::vector<int64_t> perm{0, rank - 1};
  for (int64_t k = 1; k + 1 < rank; ++k) perm.push_back(k);
  return perm;
}
std::vector<int64_t> to_channels_last(int64_t rank) {
  std::vector<int64_t> perm{0};
  for (int64_t k = 2; k < rank; ++k) perm.push_back(k);
  perm.push_back(1);
  return perm;
}
ValueId transposed(GraphBuilder& b, ValueId v, std::vector<int64_t> perm) { return b.op("Transpose", {v}, {{"perm", std::move(perm)}}); }

/// The output has the extents of ONNX's operator on the input. That operator is built in a scratch graph only to find
/// them.
Extents extents_of_pool(Inference& n, const char* op, bool channels_last) {
  if (n.rank(0) < 3) n.fail(fmt::format("the input has rank {}; [n, c, spatial...] is needed", n.rank(0)));
  Graph scratch;
  int fresh = 0;
  GraphBuilder b(scratch, n.node().name, fresh);
  const int64_t rank = n.rank(0);
  const ValueId x = scratch.add_value("x", Type::tensor(ElementType::F32, n.extents(0)));
  std::map<std::string, Attribute> attributes = n.node().attributes;
  attributes.erase("channels_last");
  const ValueId y = b.op(op, {channels_last ? transposed(b, x, to_channels_first(rank)) : x}, std::move(attributes));
  return b.extents(channels_last ? transposed(b, y, to_channels_last(rank)) : y);
}

const char* pool_of(const Node& node) { return node.op == "QLinearAveragePool" ? "AveragePool" : "GlobalAveragePool"; }

void infer_byte_pool(Inference& n) {
  need_byte(n, 0);
  for (int scale : {1, 3}) need_scale(n, scale, 0);
  n.output(0, n.element(0), extents_of_pool(n, pool_of(n.node()), n.node().integer("channels_last", 0) != 0));
}
std::optional<std::vector<ValueId>> decompose_pool(GraphBuilder& b, const Node& node) {
  const bool last = node.integer("channels_last", 0) != 0;
  const int64_t rank = b.rank(node.input(0));
  std::map<std::string, Attribute> attributes = node.attributes;
  attributes.erase("channels_last");
  b.in_floats(fmt::format("averages are computed on bytes only as {} between DequantizeLinear and QuantizeLinear", pool_of(node)));
  ValueId x = real(b, node, 0);
  if (last) x = transposed(b, x, to_channels_first(rank));
  ValueId y = quantised(b, node, b.op(pool_of(node), {x}, std::move(attributes)), 3)[0];
  return std::vector{last ? transposed(b, y, to_channels_last(rank)) : y};
}

void infer_nhwc_max_pool(Inference& n) {
  need_byte(n, 0);
  n.output(0, n.element(0), extents_of_pool(n, "MaxPool", true));
}
std::optional<std::vector<ValueId>> decompose_nhwc_max_pool(GraphBuilder& b, const Node& node) {
  const int64_t rank = b.rank(node.input(0));
  const ValueId y = b.op("MaxPool", {transposed(b, node.input(0), to_channels_first(rank))}, node.attributes);
  return std::vector{transposed(b, y, to_channels_last(rank))};
}

void infer_reduce_mean(Inference& n) {
  need_byte(n, 0);
  for (int scale : {1, 3}) need_scale(n, scale, 0);
  Graph scratch;
  int fresh = 0;
  GraphBuilder b(scratch, n.node().name, fresh);
  const ValueId x = scratch.add_value("x", Type::tensor(ElementType::F32, n.extents(0)));
  std::vector<int64_t> axes = n.node().integers("axes");
  for (int64_t& axis : axes) axis = n.axis(axis, n.rank(0));
  const ValueId y = b.op("ReduceMean", {x, axes.empty() ? kAbsent : b.integers(axes)}, {{"keepdims", n.node().integer("keepdims", 1)}});
  n.output(0, n.element(0), b.extents(y));
}
std::optional<std::vector<ValueId>> decompose_reduce_mean(GraphBuilder& b, const Node& node) {
  const std::vector<int64_t> axes = node.integers("axes");
  b.in_floats("averages are computed on bytes only as ReduceMean between DequantizeLinear and QuantizeLinear");
  const ValueId x = real(b, node, 0);
  return quantised(b, node, b.op("ReduceMean", {x, axes.empty() ? kAbsent : b.integers(axes)}, {{"keepdims", node.integer("keepdims", 1)}}),
                   3);
}

}  // namespace

std::span<const Operator> table_qlinear() {
  constexpr std::string_view kDomain = "com.microsoft";
  static const Operator list[] = {
      {.name = "QLinearAdd",
       .domain = kDomain,
       .min_inputs = 2,
       .max_inputs = 8,
       .max_outputs = 1,
       .infer = infer_binary,
       .decompose = decompose_binary},
      {.name = "QLinearMul",
       .domain = kDomain,
       .min_inputs = 2,
       .max_inputs = 8,
       .max_outputs = 1,
       .infer = infer_binary,
       .decompose = decompose_binary},
      {.name = "QLinearLeakyRelu",
       .domain = kDomain,
       .min_inputs = 2,
       .max_inputs = 5,
       .max_outputs = 1,
       .infer = infer_unary,
       .decompose = decompose_unary},
      {.name = "QLinearSigmoid",
       .domain = kDomain,
       .min_inputs = 2,
       .max_inputs = 5,
       .max_outputs = 1,
       .infer = infer_unary,
       .decompose = decompose_unary},
      {.name = "QLinearSoftmax",
       .domain = kDomain,
       .min_inputs = 2,
       .max_inputs = 5,
       .max_outputs = 1,
       .infer = infer_byte_softmax,
       .decompose = decompose_byte_softmax},
      {.name = "QLinearWhere",
       .domain = kDomain,
       .min_inputs = 3,
       .max_inputs = 9,
       .max_outputs = 1,
       .infer = infer_where,
       .decompose = decompose_where},
      {.name = "QLinearConcat", .domain = kDomain, .min_inputs = 1, .max_outputs = 1, .infer = infer_concat, .decompose = decompose_concat},
      {.name = "QLinearAveragePool",
       .domain = kDomain,
       .min_inputs = 2,
       .max_inputs = 5,
       .max_outputs = 1,
       .infer = infer_byte_pool,
       .decompose = decompose_pool},
      {.name = "QLinearGlobalAveragePool",
       .domain = kDomain,
       .min_inputs = 2,
       .max_inputs = 5,
       .max_outputs = 1,
       .infer = infer_byte_pool,
       .decompose = decompose_pool},
      {.name = "QLinearReduceMean",
       .domain = kDomain,
       .min_inputs = 2,
       .max_inputs = 5,
       .max_outputs = 1,
       .infer = infer_reduce_mean,
       .decompose = decompose_reduce_mean},
      {.name = "NhwcMaxPool",
       .domain = kDomain,
       .min_inputs = 1,
       .max_inputs = 1,
       .max_outputs = 1,
       .infer = infer_nhwc_max_pool,
       .decompose = decompose_nhwc_max_pool},
  };
  return list;
}

}  // namespace onnxc
