// Operators whose result has a number of elements that depends on data: NonZero, Compress, Unique, NonMaxSuppression.
// Their node binds the number.
#include <fmt/format.h>

#include "compiler/ops/kernel_query.h"

namespace onnxc {
namespace {

// ---- NonZero: the positions of nonzero elements, [rank, count].

void infer_nonzero(Inference& n) {
  const Extents& x = n.extents(0);
  const Dim count = n.fresh("nonzero", 0, element_count(x));
  n.output(0, ElementType::I64, {std::max<int64_t>(1, static_cast<int64_t>(x.size())), count});
}

void lower_nonzero(KernelQuery& l) {
  const View x = l.in(0);
  l.call("scalar_nonzero").binds(l.symbol(0)).pointer(l.out(0)).tensor(x).emit();
}

// ---- Compress: the slices whose condition holds.

/// The axis, or -1 if the tensor is taken as a list.
int axis_or_none(const Node& node, int rank) {
  if (!node.has("axis")) return -1;
  const int64_t axis = node.integer("axis", 0);
  if (axis < -rank || axis >= rank) node.fail(ErrorKind::Invalid, fmt::format("axis {} is out of range for rank {}", axis, rank));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

struct Slices {
  Dim outer = 1, extent = 1, inner = 1;
};
Slices slices_of(const Extents& x, int axis) {
  Slices s;
  for (std::size_t k = 0; k < x.size(); ++k)
    (axis < 0 || static_cast<int>(k) == axis ? s.extent : static_cast<int>(k) < axis ? s.outer : s.inner) *= x[k];
  return s;
}

Extents with_axis(const Extents& x, int axis, Dim extent) {
  if (axis < 0) return {extent};
  Extents out = x;
  out[static_cast<std::size_t>(axis)] = extent;
  return out;
}

void infer_compress(Inference& n) {
  const Extents& x = n.extents(0);
  if (n.element(1) != ElementType::Bool || n.rank(1) != 1) n.fail(fmt::format("the condition is {}, not a list of bool", n.type(1).text()));
  const int axis = axis_or_none(n.node(), n.rank(0));
  const Dim count = n.fresh("compress", 0, min(slices_of(x, axis).extent, n.extents(1)[0]));
  n.output(0, n.element(0), with_axis(x, axis, count));
}

void lower_compress(KernelQuery& l) {
  const View x = l.in(0), condition = l.in(1);
  const Slices s = slices_of(x.extents, axis_or_none(l.node(), static_cast<int>(x.extents.size())));
  l.call("scalar_compress")
      .binds(l.symbol(0))
      .pointer(l.out(0))
      .pointer(x)
      .pointer(condition)
      .params({{"outer", dim_arg(s.outer)},
               {"extent", dim_arg(s.extent)},
               {"inner", dim_arg(s.inner)},
               {"conditions", dim_arg(condition.extents[0])}})
      .emit();
}

// ---- Unique

void infer_unique(Inference& n) {
  const Extents& x = n.extents(0);
  const int axis = axis_or_none(n.node(), n.rank(0));
  const Dim extent = slices_of(x, axis).extent, count = n.fresh("unique", 0, extent);
  n.output(0, n.element(0), with_axis(x, axis, count));
  n.output(1, ElementType::I64, {count});
  n.output(2, ElementType::I64, {extent});
  n.output(3, ElementType::I64, {count});
}

void lower_unique(KernelQuery& l) {
  const View x = l.in(0);
  const Slices s = slices_of(x.extents, axis_or_none(l.node(), static_cast<int>(x.extents.size())));
  std::vector<Arg> out;
  for (int i = 0; i < 4; ++i) out.push_back(l.has_output(i) ? Arg(l.out(i).pointer) : Arg(NullArg{}));
  const PointerArg order = l.workspace("order", ElementType::I64, s.extent), rank = l.workspace("rank", ElementType::I64, s.extent);
  StepBuilder step = l.call("scalar_unique");
  step.template_arg(x.element).binds(l.symbol(0));
  for (Arg& arg : out) step.call().args.push_back(std::move(arg));
  step.pointer(x)
      .pointer(order)
      .pointer(rank)
      .params({{"outer", dim_arg(s.outer)},
               {"extent", dim_arg(s.extent)},
               {"inner", dim_arg(s.inner)},
               {"sorted", flag_arg(l.node().integer("sorted", 1) != 0)}})
      .emit();
}

// ---- NonMaxSuppression

void infer_suppression(Inference& n) {
  const Extents &boxes = n.extents(0), &scores = n.extents(1);
  if (boxes.size() != 3 || scores.size() != 3) n.fail(fmt::format("boxes {} and scores {} have rank 3", text(boxes), text(scores)));
  n.unify(boxes[0], scores[0], "the number of batches");
  n.unify(boxes[1], scores[2], "the number of boxes");
  n.unify(boxes[2], 4, "the numbers of a box");
  for (int i = 0; i < 5; ++i) {
    const ElementType wanted = i == 2 ? ElementType::I64 : ElementType::F32;
    if (n.has(i) && n.element(i) != wanted) n.fail(fmt::format("input {} is {}, not {}", i, name(n.element(i)), name(wanted)));
    if (i >= 2 && n.has(i)) n.unify(element_count(n.extents(i)), 1, "a threshold is one number");
  }
  Dim each = boxes[1];
  if (const TensorData* most = n.constant(2)) each = min(each, std::max<int64_t>(0, std::min(to_integers(*most)[0], kFar)));
  n.output(0, ElementType::I64, {n.fresh("kept", 0, n.has(2) ? scores[0] * scores[1] * each : Dim(0)), 3});
}

void lower_suppression(KernelQuery& l) {
  const View boxes = l.in(0), scores = l.in(1);
  std::vector<Arg> limits;
  for (int i = 2; i < 5; ++i) limits.push_back(l.has(i) ? Arg(l.in(i).pointer) : Arg(NullArg{}));
  const View y = l.out(0);
  const PointerArg order = l.workspace("order", ElementType::I64, boxes.extents[1]);
  StepBuilder step = l.call("scalar_non_max_suppression");
  step.binds(l.symbol(0)).pointer(y).pointer(boxes).pointer(scores);
  for (Arg& arg : limits) step.call().args.push_back(std::move(arg));
  step.pointer(order)
      .params({{"batches", dim_arg(scores.extents[0])},
               {"classes", dim_arg(scores.extents[1])},
               {"boxes", dim_arg(boxes.extents[1])},
               {"center", flag_arg(l.node().integer("center_point_box", 0) != 0)}})
      .emit();
}

}  // namespace

extern const Operator op_NonZero, op_Compress, op_Unique, op_NonMaxSuppression;
const Operator op_NonZero{
    .name = "NonZero", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1, .infer = infer_nonzero, .lower = lower_nonzero};
const Operator op_Compress{
    .name = "Compress", .min_inputs = 2, .max_inputs = 2, .max_outputs = 1, .infer = infer_compress, .lower = lower_compress};
const Operator op_Unique{
    .name = "Unique", .min_inputs = 1, .max_inputs = 1, .max_outputs = 4, .infer = infer_unique, .lower = lower_unique};
const Operator op_NonMaxSuppression{.name = "NonMaxSuppression",
                                    .min_inputs = 2,
                                    .max_inputs = 5,
                                    .max_outputs = 1,
                                    .infer = infer_suppression,
                                    .lower = lower_suppression};

}  // namespace onnxc
