// com.microsoft's products of integers: QGemm, QLinearConv in either layout, MatMulIntegerToFloat,
// DynamicQuantizeMatMul and MatMulInteger16.
#include <fmt/format.h>

#include "compiler/ops/in_float.h"
#include "compiler/ops/linear/matmul.h"
#include "compiler/ops/quant/integer_product.h"
#include "compiler/ops/quant/linear.h"
#include "compiler/ops/quant/need.h"

namespace onnxc {
namespace {

/// One value, or one for each column.
void need_columns(Inference& n, int i, Dim columns) {
  if (!n.has(i) || element_count(n.extents(i)) == Dim(1)) return;
  if (n.rank(i) == 0) n.fail(fmt::format("input {} is a scalar", i));
  n.unify(n.extents(i).back(), columns, "the values for each column");
}
ValueId transposed(GraphBuilder& b, ValueId v, bool yes) {
  if (yes && b.graph().constant(v) != nullptr && is_byte(b.type(v).element)) return transposed_bytes(b, v);
  return yes ? b.op("Transpose", {v}, {{"perm", std::vector<int64_t>{1, 0}}}) : v;
}
ValueId column(GraphBuilder& b, ValueId v) { return along(b, v, 0, 1); }
ValueId times(GraphBuilder& b, ValueId x, ValueId y) { return b.op("Mul", {x, y}); }

// ---- QGemm: A, a_scale, a_zero, B, b_scale, b_zero, C, y_scale, y_zero. C is in units of alpha * a_scale * b_scale.

void infer_qgemm(Inference& n) {
  need_byte(n, 0);
  need_byte(n, 3);
  need_type(n, 2, n.element(0));
  need_type(n, 5, n.element(3));
  need_type(n, 6, ElementType::I32);
  for (int i : {1, 2, 7, 8}) need_one(n, i);
  if (n.rank(0) != 2 || n.rank(3) != 2) n.fail(fmt::format("A and B have ranks {} and {}; matrices are needed", n.rank(0), n.rank(3)));
  const bool a = n.node().integer("transA", 0) != 0, b = n.node().integer("transB", 0) != 0;
  n.unify(n.extents(0)[a ? 0 : 1], n.extents(3)[b ? 1 : 0], "the inner extents");
  Extents out{n.extents(0)[a ? 1 : 0], n.extents(3)[b ? 0 : 1]};
  for (int i : {4, 5}) need_columns(n, i, out[1]);
  if (n.has(6)) out = n.spread(n.extents(6), out, "C");
  if (n.has(7)) need_byte(n, 8);
  n.output(0, n.has(7) ? n.element(8) : n.element(1), out);
}
std::optional<std::vector<ValueId>> decompose_qgemm(GraphBuilder& b, const Node& node) {
  const ValueId left = transposed(b, node.input(0), node.integer("transA", 0) != 0),
                right = transposed(b, node.input(3), node.integer("transB", 0) != 0);
  ValueId sum = integer_matmul(b, {left, as_scalar(b, node.input(2))}, {right, column(b, node.input(5))});
  if (node.has_input(6)) sum = b.op("Add", {cast_to(b, sum, ElementType::I32), node.input(6)});
  ValueId factor = times(b, as_scalar(b, node.input(1)), column(b, node.input(4)));
  if (node.number("alpha", 1) != 1)
    factor = times(b, factor, b.number(b.type(factor).element, static_cast<double>(node.number("alpha", 1))));
  const bool quantised = node.has_input(7);
  if (quantised) factor = b.op("Div", {factor, as_scalar(b, node.input(7))});
  const ValueId y = times(b, cast_to(b, sum, ElementType::F32), cast_to(b, factor, ElementType::F32));
  const ElementType type = b.type(node.outputs[0]).element;
  return std::vector{quantised ? round_to_quantised(b, y, as_scalar(b, node.input(8)), type) : cast_to(b, y, type)};
}

// ---- QLinearConv with channels_last

ValueId move_channels(GraphBuilder& b, ValueId x, bool to_front) {
  const int64_t rank = b.rank(x);
  std::vector<int64_t> perm{0};
  if (to_front) perm.push_back(rank - 1);
  for (int64_t k = to_front ? 1 : 2; k < (to_front ? rank - 1 : rank); ++k) perm.push_back(k);
  if (!to_front) perm.push_back(1);
  return b.op("Transpose", {x}, {{"perm", std::move(perm)}});
}
/// The node as ONNX's QLinearConv between transposes.
ValueId channels_first_conv(GraphBuilder& b, const Node& node, std::vector<ValueId> inputs) {
  const bool last = node.integer("channels_last", 0) != 0;
  std::map<std::string, Attribute> attributes = node.attributes;
  attributes.erase("channels_last");
  if (last) inputs[0] = move_channels(b, inputs[0], true);
  const ValueId y = b.op("QLinearConv", std::move(inputs), std::move(attributes));
  return last ? move_channels(b, y, false) : y;
}
void infer_contrib_conv(Inference& n) {
  if (n.rank(0) < 3) n.fail(fmt::format("the input has rank {}; [n, c, spatial...] is needed", n.rank(0)));
  Graph scratch;
  int fresh = 0;
  GraphBuilder b(scratch, n.node().name, fresh);
  std::vector<ValueId> inputs;
  for (int i = 0; i < n.node().own_inputs(); ++i) inputs.push_back(n.has(i) ? scratch.add_value("x", n.type(i)) : kAbsent);
  n.output(0, b.type(channels_first_conv(b, n.node(), std::move(inputs))));
}
std::optional<std::vector<ValueId>> decompose_conv(GraphBuilder& b, const Node& node) {
  return std::vector{channels_first_conv(b, node, node.inputs)};
}

// ---- to floats

void infer_to_float(Inference& n) {  // A, B, a_scale, b_scale, a_zero, b_zero, bias
  need_byte(n, 0);
  need_byte(n, 1);
  need_type(n, 3, n.element(2));
  need_type(n, 4, n.element(0));
  need_type(n, 5, n.element(1));
  need_type(n, 6, n.element(2));
  for (int i : {2, 4}) need_one(n, i);
  Extents out = matmul_extents(n, 0, 1);
  for (int i : {3, 5, 6}) need_columns(n, i, n.extents(1).back());
  n.output(0, n.element(2), std::move(out));
}
/// (A - a_zero) (B - b_zero) a_scale b_scale + bias
ValueId product_in_float(GraphBuilder& b, const Centred& left, const Centred& right, ValueId a_scale, ValueId b_scale, ValueId bias,
                         ElementType type) {
  const ValueId factor = times(b, cast_to(b, a_scale, ElementType::F32), cast_to(b, b_scale, ElementType::F32));
  ValueId y = times(b, cast_to(b, integer_matmul(b, left, right), ElementType::F32), factor);
  if (bias != kAbsent) y = b.op("Add", {y, cast_to(b, bias, ElementType::F32)});
  return cast_to(b, y, type);
}
std::optional<std::vector<ValueId>> decompose_to_float(GraphBuilder& b, const Node& node) {
  return std::vector{product_in_float(b, {node.input(0), as_scalar(b, node.input(4))}, {node.input(1), column(b, node.input(5))},
                                      as_scalar(b, node.input(2)), column(b, node.input(3)), node.input(6),
                                      b.type(node.outputs[0]).element)};
}

void infer_dynamic_matmul(Inference& n) {  // A, B, b_scale, b_zero, bias
  need_type(n, 0, ElementType::F32);
  need_byte(n, 1);
  need_type(n, 2, ElementType::F32);
  need_type(n, 3, n.element(1));
  need_type(n, 4, ElementType::F32);
  Extents out = matmul_extents(n, 0, 1);
  for (int i : {2, 3, 4}) need_columns(n, i, n.extents(1).back());
  n.output(0, ElementType::F32, std::move(out));
}
std::optional<std::vector<ValueId>> decompose_dynamic_matmul(GraphBuilder& b, const Node& node) {
  const std::vector<ValueId> a = b.ops("DynamicQuantizeLinear", {node.input(0)}, 3);
  return std::vector{product_in_float(b, {a[0], a[2]}, {node.input(1), column(b, node.input(3))}, a[1], column(b, node.input(2)),
                                      node.input(4), ElementType::F32)};
}

// ---- MatMulInteger16

void infer_matmul16(Inference& n) {
  for (int i : {0, 1}) {
    if (n.element(i) != ElementType::I16 && n.element(i) != ElementType::U16)
      n.fail(fmt::format("input {} is {}; i16 or u16 is needed", i, name(n.element(i))));
  }
  const bool is_unsigned = n.element(0) == ElementType::U16 && n.element(1) == ElementType::U16;
  n.output(0, is_unsigned ? ElementType::U32 : ElementType::I32, matmul_extents(n, 0, 1));
}
std::optional<std::vector<ValueId>> decompose_matmul16(GraphBuilder& b, const Node& node) {
  const ElementType type = b.type(node.outputs[0]).element;
  return std::vector{b.op("MatMul", {cast_to(b, node.input(0), type), cast_to(b, node.input(1), type)})};
}

}  // namespace

std::span<const Operator> table_contrib_products() {
  constexpr std::string_view kDomain = "com.microsoft";
  static const Operator list[] = {
      {.name = "QGemm",
       .domain = kDomain,
       .min_inputs = 6,
       .max_inputs = 9,
       .max_outputs = 1,
       .infer = infer_qgemm,
       .decompose = decompose_qgemm},
      {.name = "QLinearConv",
       .domain = kDomain,
       .min_inputs = 8,
       .max_inputs = 9,
       .max_outputs = 1,
       .infer = infer_contrib_conv,
       .decompose = decompose_conv},
      {.name = "MatMulIntegerToFloat",
       .domain = kDomain,
       .min_inputs = 4,
       .max_inputs = 7,
       .max_outputs = 1,
       .infer = infer_to_float,
       .decompose = decompose_to_float},
      {.name = "DynamicQuantizeMatMul",
       .domain = kDomain,
       .min_inputs = 3,
       .max_inputs = 5,
       .max_outputs = 1,
       .infer = infer_dynamic_matmul,
       .decompose = decompose_dynamic_matmul},
      {.name = "MatMulInteger16",
       .domain = kDomain,
       .min_inputs = 2,
       .max_inputs = 2,
       .max_outputs = 1,
       .infer = infer_matmul16,
       .decompose = decompose_matmul16},
  };
  return list;
}

}  // namespace onnxc
