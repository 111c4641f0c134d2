// Softmax and LogSoftmax. f32 runs on vectors over the innermost axis in memory: the last one, or the channels of a
// channels-last image. Other axes are transposed there and back. For f16 and bf16 each step of the specification's
// function body rounds, as in ONNX's reference.
#include "compiler/ops/reduce/softmax.h"
#include "compiler/ops/axis.h"

#include "compiler/ops/dispatch.h"
#include "compiler/ops/in_float.h"
#include "compiler/ops/kernel_query.h"
#include "runtime_stub/onnxc/scalar/softmax.hpp"

namespace onnxc {
namespace {

bool is_log(const Node& node) { return node.op == "LogSoftmax"; }
/// Before opset 13 the input was a matrix: the axes before `axis` (default 1) by those from it on.
void resolve_softmax(GraphBuilder& b, Node& node) {
  if (node.version >= 13) return;
  const int64_t rank = b.rank(node.inputs[0]), given = node.integer("axis", 1), axis = given < 0 ? given + rank : given;
  node.attributes["axis"] = axis;
  if (axis == rank - 1 || axis < 0 || axis >= rank) return;
  const ValueId x = node.inputs[0], matrix = b.op("Flatten", {x}, {{"axis", axis}});
  const ValueId y = b.op(node.op, {matrix}, {{"axis", int64_t{1}}});
  node.inputs = {y, b.op("Shape", {x})};
  node.op = "Reshape";
  node.attributes = {{"allowzero", int64_t{1}}};
}

void infer_softmax(Inference& n) {
  const int64_t axis = n.node().integer("axis", -1);
  if (n.rank(0) > 0 || axis < -1 || axis > 0) n.axis(axis, n.rank(0));  // of a scalar: 1
  n.output(0, n.type(0));
}

void evaluate_softmax(Evaluation& e) {
  const Shape shape = Evaluation::shape_of(e.input(0));
  const int axis = static_cast<int>(axis_of(e.node(), -1, shape.rank));
  const int64_t outer = shape.count(0, axis), n = shape.rank == 0 ? 1 : shape[axis], inner = shape.count(axis + 1, shape.rank);
  for_float(e.type(0), [&]<class T>() {
    if (is_log(e.node())) scalar::log_softmax(Share{}, e.out<T>().data, e.in<T>(0).data, outer, n, inner);
    else scalar::softmax(Share{}, e.out<T>().data, e.in<T>(0).data, outer, n, inner);
  });
}

Dim product(const Extents& extents, int first, int last) {
  Dim n = 1;
  for (int axis = first; axis < last; ++axis) n *= extents[static_cast<std::size_t>(axis)];
  return n;
}

/// x as [outer, n, inner], with the axis of the softmax in the middle.
struct Lines {
  int axis;
  Dim outer, n, inner;
};
Lines lines_of(KernelQuery& l) {
  const Extents& extents = l.extents(0);
  const int rank = static_cast<int>(extents.size()), axis = static_cast<int>(axis_of(l.node(), -1, rank));
  return {axis, product(extents, 0, axis), rank == 0 ? Dim(1) : extents[static_cast<std::size_t>(axis)], product(extents, axis + 1, rank)};
}

}  // namespace

void lower_softmax_rows(KernelQuery& l, const SoftmaxOfRows& emit) {
  const auto [axis, outer, n, inner] = lines_of(l);
  const auto call_rows = [&, n = n](PointerArg x, PointerArg y, Dim rows, Dim x_row, Dim y_row) {
    y.writes = true;
    emit(x, y, n, {{"rows", dim_arg(rows)}, {"n", dim_arg(n)}, {"x_row", dim_arg(x_row)}, {"y_row", dim_arg(y_row)}});
  };
  const Layout layout = l.out_layout(0);
  if (layout.channels_last && axis == 1) {
    const View x = l.in(0, l.in_any(0).layout.channels_last ? l.in_any(0).layout : layout), y = l.out_any(0);
    return call_rows(x.pointer, y.pointer, outer * inner, x.layout.pixel_stride, y.layout.pixel_stride);
  }
  const View x = l.in(0), y = l.out(0);
  if (inner == Dim(1)) return call_rows(x.pointer, y.pointer, outer, n, n);
  const PointerArg rows = l.workspace("rows", ElementType::F32, outer * n * inner);
  const Extents box{outer, inner, n};
  const DimList here{n * inner, 1, inner}, there{inner * n, n, 1};
  l.copy(box, rows, there, x.pointer, here, ElementType::F32);
  call_rows(rows, rows, outer * inner, n, n);
  l.copy(box, y.pointer, here, rows, there, ElementType::F32);
}

namespace {

void lower_softmax(KernelQuery& l) {
  if (l.optimise() && l.type(0).element == ElementType::F32)
    return lower_softmax_rows(l, [&](PointerArg x, PointerArg y, Dim, NamedArgs params) {
      l.call(is_log(l.node()) ? "log_softmax" : "softmax").pointer(x).pointer(y).params(std::move(params)).emit();
    });
  const auto [axis, outer, n, inner] = lines_of(l);
  const View x = l.in(0), y = l.out(0);
  l.call(is_log(l.node()) ? "scalar_log_softmax" : "scalar_softmax").pointer(y).pointer(x).dim(outer).dim(n).dim(inner).emit();
}

/// exp(x - max) / sum(exp(x - max)), or its logarithm, step by step.
std::optional<std::vector<ValueId>> decompose_softmax(GraphBuilder& b, const Node& node) {
  const ValueId x = node.input(0);
  const int rank = b.rank(x);
  if (!is_half(b.type(x).element) || rank == 0) return compute_in_float(b, node);
  const std::map<std::string, Attribute> keep{{"keepdims", int64_t{1}}};
  const ValueId axes = b.integers({axis_of(node, -1, rank)});
  const ValueId shifted = b.op("Sub", {x, b.op("ReduceMax", {x, axes}, keep)});
  const ValueId power = b.op("Exp", {shifted}), sum = b.op("ReduceSum", {power, axes}, keep);
  return std::vector{is_log(node) ? b.op("Sub", {shifted, b.op("Log", {sum})}) : b.op("Div", {power, sum})};
}

Operator softmax_operator(std::string_view name) {
  return {.name = name,
          .min_inputs = 1,
          .max_inputs = 1,
          .max_outputs = 1,
          .resolve = resolve_softmax,
          .infer = infer_softmax,
          .decompose = decompose_softmax,
          .evaluate = evaluate_softmax,
          .lower = lower_softmax,
          .layout = LayoutRule::Follows};
}

}  // namespace

extern const Operator op_Softmax, op_LogSoftmax;
const Operator op_Softmax = softmax_operator("Softmax");
const Operator op_LogSoftmax = softmax_operator("LogSoftmax");

}  // namespace onnxc
