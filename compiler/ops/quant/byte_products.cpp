#include "compiler/ops/quant/byte_products.h"

#include <fmt/format.h>

#include "compiler/ops/linear/matmul.h"
#include "compiler/ops/nn/conv.h"
#include "compiler/ops/quant/need.h"
#include "compiler/ops/selected.h"
#include "runtime_stub/onnxc/contract/quads.hpp"
#include "runtime_stub/onnxc/scalar/matmul.hpp"

namespace onnxc {

bool has_byte_groups(const Extents& weights, int64_t group) {
  if (group == 1 || weights[1].value() % 4 == 0) return true;
  return weights.size() <= 4 && weights[1].value() == 1 && weights[0].value() == group;
}

namespace {

/// A depthwise convolution keeps quads under some columns of the output.
bool fits_columns(const Window& window) {
  constexpr int64_t kMostBytes = int64_t{1} << 18, kLanes = 16;
  const int64_t kh = window.rank() > 1 ? window.kernel[0].value() : 1;
  const auto most = static_cast<double>(kMostBytes);
  // Products of extents beyond reason would overflow.
  if (static_cast<double>(window.strides.back()) > most || static_cast<double>(window.dilations.back()) > most) return false;
  return contract::depthwise_bytes_scratch(kh, window.kernel.back().value(), window.strides.back(), window.dilations.back(), kLanes) <=
         kMostBytes;
}

}  // namespace

bool has_fast_byte_product(const Graph& graph, const Node& node) {
  if (node.op == "ByteMatMul") return graph[node.inputs[0]].type.rank() >= 2;
  const Extents &x = graph[node.inputs[0]].type.extents, &w = graph[node.inputs[1]].type.extents;
  const int64_t group = node.integer("group", 1);
  return x.size() <= 4 && has_byte_groups(w, group) && (group == 1 || w[1].value() > 1 || fits_columns(conv_window(node, x, w)));
}

namespace {

void check_operands(Inference& n) {
  if (n.element(0) != ElementType::U8 || n.element(1) != ElementType::I8)
    n.fail(fmt::format("the operands are {} and {}, not u8 and i8", name(n.element(0)), name(n.element(1))));
  if (n.has(2) && n.element(2) != ElementType::I32) n.fail(fmt::format("start is {}, not i32", name(n.element(2))));
}

void infer_byte_conv(Inference& n) {
  check_operands(n);
  Extents y = conv_extents(n, 0, 1);
  if (n.has(2)) n.unify(n.extents(2)[0], y[1], "the start and the output channels");
  n.output(0, ElementType::I32, std::move(y));
}
void infer_matmul(Inference& n) {
  check_operands(n);
  if (n.rank(1) != 2) n.fail("the second operand is no matrix");
  Extents y = matmul_extents(n, 0, 1);
  if (n.has(2)) n.unify(n.extents(2)[0], y.back(), "the start and the columns");
  n.output(0, ElementType::I32, std::move(y));
}

int64_t outside(const Node& node) { return node.integer("outside", 0); }
const int32_t* start_of(const Evaluation& e) { return e.has(2) ? e.in<int32_t>(2).data : nullptr; }

void evaluate_conv(Evaluation& e) {
  scalar::conv(e.out<int32_t>(), e.in<uint8_t>(0), e.in<int8_t>(1), start_of(e), scalar_conv_params(e, outside(e.node())));
}
void evaluate_matmul(Evaluation& e) {
  scalar::matmul(e.out<int32_t>().data, e.in<uint8_t>(0).data, e.in<int8_t>(1).data, scalar_matmul_params(e, to_extents(e.output(0).shape)),
                 start_of(e));
}

void infer_centred(Inference& n) {
  for (int i = 0; i < 4; ++i) need_type(n, i, ElementType::U8);
  for (int i : {2, 3}) need_one(n, i);
  n.output(0, ElementType::I32, matmul_extents(n, 0, 1));
}
const uint8_t* zero_of(const Evaluation& e, int i) { return e.has(i) ? e.in<uint8_t>(i).data : nullptr; }
void evaluate_centred(Evaluation& e) {
  scalar::centred_matmul(e.out<int32_t>().data, e.in<uint8_t>(0).data, e.in<uint8_t>(1).data, zero_of(e, 2), zero_of(e, 3),
                         scalar_matmul_params(e, to_extents(e.output(0).shape)));
}
bool has_fast_centred(const Graph& graph, const Node& node) {
  const Extents &a = graph[node.inputs[0]].type.extents, &b = graph[node.inputs[1]].type.extents;
  return a.size() >= 2 && b.size() >= 2 && !(a.back() == Dim(0));  // sums of nothing
}
void lower_centred(KernelQuery& l) {
  if (l.optimise() && has_fast_centred(l.graph(), l.node())) return lower_fast_centred_matmul(l);
  const MatrixProduct p = matrix_product(l.extents(0), l.extents(1), l.output_type(0).extents);
  const View a = l.in(0), b = l.in(1), y = l.out(0), sums = l.before_epilogue(y, ElementType::I32);
  StepBuilder step = l.call("scalar_centred_matmul");
  step.pointer(sums).pointer(a).pointer(b);
  for (int i : {2, 3}) step.optional_pointer(i, ElementType::U8);
  step.params(scalar_matmul_args(p)).macs(element_count(y.extents) * p.k).emit();
  l.apply_epilogue(y, sums);
}

void lower_scalar_matmul(KernelQuery& l) {
  const MatrixProduct p = matrix_product(l.extents(0), l.extents(1), l.output_type(0).extents);
  const View a = l.in(0), w = l.in(1), y = l.out(0), sums = l.before_epilogue(y, ElementType::I32);
  StepBuilder step = l.call("scalar_matmul");
  step.pointer(sums).pointer(a).pointer(w).params(scalar_matmul_args(p)).optional_pointer(2, ElementType::I32);
  step.macs(element_count(y.extents) * p.k).emit();
  l.apply_epilogue(y, sums);
}

bool is_fast(KernelQuery& l) { return l.optimise() && has_fast_byte_product(l.graph(), l.node()); }

void lower_conv(KernelQuery& l) {
  if (is_fast(l)) lower_fast_byte_conv(l);
  else if (!lower_byte_columns(l)) lower_scalar_conv(l, ElementType::I32, outside(l.node()));
}
void lower_matmul(KernelQuery& l) { is_fast(l) ? lower_fast_byte_matmul(l) : lower_scalar_matmul(l); }

}  // namespace

extern const Operator op_ByteConv, op_ByteMatMul, op_CentredMatMul;
const Operator op_ByteConv{.name = "ByteConv",
                           .domain = "onnxc",
                           .min_inputs = 2,
                           .max_inputs = 3,
                           .max_outputs = 1,
                           .infer = infer_byte_conv,
                           .evaluate = evaluate_conv,
                           .lower = lower_conv,
                           .layout = LayoutRule::Prefers,
                           .has_layout = has_fast_byte_product,
                           .takes_epilogue = has_fast_byte_product,
                           .typed_epilogue = true};
const Operator op_ByteMatMul{.name = "ByteMatMul",
                             .domain = "onnxc",
                             .min_inputs = 2,
                             .max_inputs = 3,
                             .max_outputs = 1,
                             .infer = infer_matmul,
                             .evaluate = evaluate_matmul,
                             .lower = lower_matmul,
                             .takes_epilogue = has_fast_byte_product,
                             .typed_epilogue = true};

const Operator op_CentredMatMul{.name = "CentredMatMul",
                                .domain = "onnxc",
                                .min_inputs = 2,
                                .max_inputs = 4,
                                .max_outputs = 1,
                                .infer = infer_centred,
                                .evaluate = evaluate_centred,
                                .lower = lower_centred,
                                .takes_epilogue = has_fast_centred,
                                .typed_epilogue = true};

}  // namespace onnxc
