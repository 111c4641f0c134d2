// MatMulInteger, ConvInteger, QLinearMatMul and QLinearConv: products of 8-bit integers minus their zero points.
//
//   MatMulInteger, ConvInteger   y = (a - a_zero) (b - b_zero), in i32
//   QLinear...                   y = saturate(round((that + bias) * (a_scale * b_scale / y_scale)) + y_zero)
#include <fmt/format.h>

#include "compiler/ops/in_float.h"
#include "compiler/ops/linear/matmul.h"
#include "compiler/ops/nn/conv.h"
#include "compiler/ops/quant/integer_product.h"
#include "compiler/ops/quant/linear.h"
#include "compiler/ops/quant/need.h"

namespace onnxc {
namespace {

bool is_float8(ElementType type) { return is_float(type) && info(type).bits == 8; }

/// One value, or one for each output channel.
void need_channels(Inference& n, int i, Dim channels) {
  if (!n.has(i) || element_count(n.extents(i)) == Dim(1)) return;
  if (n.rank(i) != 1) n.fail(fmt::format("input {} has rank {}; one value or one for each output channel is needed", i, n.rank(i)));
  n.unify(n.extents(i)[0], channels, "the values for each output channel");
}
/// Scales and zero points of a matrix: one value, a vector for its rows (or columns), or a tensor that broadcasts.
void need_lines(Inference& n, int i, int of, bool rows) {
  if (!n.has(i) || element_count(n.extents(i)) == Dim(1)) return;
  const Extents& matrix = n.extents(of);
  if (matrix.size() < 2) n.fail(fmt::format("input {} has shape {} where input {} is a vector", i, text(n.extents(i)), of));
  if (n.rank(i) == 1) n.unify(n.extents(i)[0], rows ? matrix[matrix.size() - 2] : matrix.back(), "the values for each row or column");
  else static_cast<void>(n.broadcast({matrix, n.extents(i)}));
}

// ---- in i32

void infer_matmul_integer(Inference& n) {
  need_byte(n, 0);
  need_byte(n, 1);
  need_type(n, 2, n.element(0));
  need_type(n, 3, n.element(1));
  need_lines(n, 2, 0, true);
  need_lines(n, 3, 1, false);
  n.output(0, ElementType::I32, matmul_extents(n, 0, 1));
}

void infer_conv_integer(Inference& n) {
  need_byte(n, 0);
  need_byte(n, 1);
  need_type(n, 2, n.element(0));
  need_type(n, 3, n.element(1));
  need_one(n, 2);
  Extents y = conv_extents(n, 0, 1);
  need_channels(n, 3, y[1]);
  n.output(0, ElementType::I32, std::move(y));
}

/// A vector for the rows of a matrix as a column.
ValueId by_row(GraphBuilder& b, ValueId v) { return along(b, v, 0, 2); }
ValueId by_column(GraphBuilder& b, ValueId v) { return along(b, v, 0, 1); }

std::optional<std::vector<ValueId>> decompose_matmul_integer(GraphBuilder& b, const Node& node) {
  const ValueId product = integer_matmul(b, {node.input(0), by_row(b, node.input(2))}, {node.input(1), by_column(b, node.input(3))});
  return std::vector{cast_to(b, product, ElementType::I32)};
}

ValueId convolve(GraphBuilder& b, const Node& node, int x, int x_zero, int w, int w_zero, ValueId bias = kAbsent) {
  const int64_t rank = b.rank(node.input(w));
  return integer_conv(b, {node.input(x), as_scalar(b, node.input(x_zero))}, {node.input(w), along(b, node.input(w_zero), 0, rank)},
                      node.attributes, bias);
}

std::optional<std::vector<ValueId>> decompose_conv_integer(GraphBuilder& b, const Node& node) {
  return std::vector{cast_to(b, convolve(b, node, 0, 2, 1, 3), ElementType::I32)};
}

// ---- requantised

void infer_qlinear_matmul(Inference& n) {
  for (int i : {0, 3, 7}) {
    if (!is_byte(n.element(i)) && !is_float8(n.element(i)))
      n.fail(fmt::format("input {} is {}; an integer or float of 8 bits is needed", i, name(n.element(i))));
  }
  need_type(n, 2, n.element(0));
  need_type(n, 5, n.element(3));
  for (int i : {1, 2}) need_lines(n, i, 0, true);
  for (int i : {4, 5}) need_lines(n, i, 3, false);
  Extents y = matmul_extents(n, 0, 3);
  for (int i : {6, 7}) {
    if (n.rank(i) == 1 || element_count(n.extents(i)) == Dim(1)) continue;
    static_cast<void>(n.broadcast({y, n.extents(i)}));
  }
  n.output(0, n.element(7), std::move(y));
}

void infer_qlinear_conv(Inference& n) {
  need_byte(n, 0);
  need_byte(n, 3);
  need_byte(n, 7);
  need_type(n, 2, n.element(0));
  need_type(n, 5, n.element(3));
  need_type(n, 8, ElementType::I32);
  for (int i : {1, 2, 6, 7}) need_one(n, i);
  Extents y = conv_extents(n, 0, 3);
  for (int i : {4, 5}) need_channels(n, i, y[1]);
  if (n.has(8)) n.unify(n.rank(8) == 1 ? n.extents(8)[0] : Dim(-1), y[1], "the bias and the output channels");
  n.output(0, n.element(7), std::move(y));
}

/// round(sum * (a_scale * b_scale / y_scale)) + zero: the factor in the scales' type, the rest in f32.
ValueId requantise(GraphBuilder& b, ValueId sum, ValueId a_scale, ValueId b_scale, ValueId y_scale, ValueId zero, ElementType type) {
  const ValueId factor = b.op("Div", {b.op("Mul", {a_scale, b_scale}), y_scale});
  return round_to_quantised(b, b.op("Mul", {cast_to(b, sum, ElementType::F32), cast_to(b, factor, ElementType::F32)}), zero, type);
}

std::optional<std::vector<ValueId>> decompose_qlinear_matmul(GraphBuilder& b, const Node& node) {
  const ValueId a_zero = by_row(b, node.input(2)), b_zero = by_column(b, node.input(5));
  ValueId product;
  if (is_byte(b.type(node.input(0)).element) && is_byte(b.type(node.input(3)).element)) {
    product = integer_matmul(b, {node.input(0), a_zero}, {node.input(3), b_zero});
  } else {
    const auto centred = [&](ValueId v, ValueId zero) {
      return b.op("Sub", {cast_to(b, v, ElementType::F32), cast_to(b, zero, ElementType::F32)});
    };
    product = b.op("MatMul", {centred(node.input(0), a_zero), centred(node.input(3), b_zero)});
  }
  // Scales of the result's rows or columns. y_scale and its zero point are one value, a vector for the rows, or
  // broadcast.
  return std::vector{requantise(b, product, by_row(b, node.input(1)), by_column(b, node.input(4)), by_row(b, node.input(6)),
                                by_row(b, node.input(7)), b.type(node.outputs[0]).element)};
}

std::optional<std::vector<ValueId>> decompose_qlinear_conv(GraphBuilder& b, const Node& node) {
  const int64_t rank = b.rank(node.input(0));
  const ValueId sum = convolve(b, node, 0, 2, 3, 5, node.input(8));
  return std::vector{requantise(b, sum, as_scalar(b, node.input(1)), along(b, node.input(4), 1, rank), as_scalar(b, node.input(6)),
                                as_scalar(b, node.input(7)), b.type(node.outputs[0]).element)};
}

}  // namespace

extern const Operator op_MatMulInteger, op_ConvInteger, op_QLinearMatMul, op_QLinearConv;
const Operator op_MatMulInteger{.name = "MatMulInteger",
                                .min_inputs = 2,
                                .max_inputs = 4,
                                .max_outputs = 1,
                                .infer = infer_matmul_integer,
                                .decompose = decompose_matmul_integer};
const Operator op_ConvInteger{.name = "ConvInteger",
                              .min_inputs = 2,
                              .max_inputs = 4,
                              .max_outputs = 1,
                              .infer = infer_conv_integer,
                              .decompose = decompose_conv_integer};
const Operator op_QLinearMatMul{.name = "QLinearMatMul",
                                .min_inputs = 8,
                                .max_inputs = 8,
                                .max_outputs = 1,
                                .infer = infer_qlinear_matmul,
                                .decompose = decompose_qlinear_matmul};
const Operator op_QLinearConv{.name = "QLinearConv",
                              .min_inputs = 8,
                              .max_inputs = 9,
                              .max_outputs = 1,
                              .infer = infer_qlinear_conv,
                              .decompose = decompose_qlinear_conv};

}  // namespace onnxc
