// Slice: every steps[k]-th element of [starts[k], ends[k]) on some axes. Negative bounds count from the end, and
// bounds beyond the end stop there. A negative step walks backwards, down to its end, which is excluded. Before opset
// 10 all of these were attributes.
#include <fmt/format.h>

#include <optional>

#include "compiler/ops/run_time_axes.h"
#include "compiler/ops/tensor/moves.h"

namespace onnxc {
namespace {

/// If only a run knows the axes: starts, ends and steps of all axes, with the given ones put in their places.
void name_sliced_axes(GraphBuilder& b, Node& node) {
  const auto known = [&](ValueId v) { return b.graph()[v].constant || b.graph()[v].elements; };
  if (node.inputs.size() < 4 || !node.has_input(1) || !node.has_input(2) || !node.has_input(3) || known(node.inputs[3])) return;
  const Type &x = b.type(node.inputs[0]), &axes = b.type(node.inputs[3]);
  if (!x.ranked || !axes.is_tensor() || !axes.ranked || axes.rank() != 1) return;
  const int rank = x.rank();
  const Extents extents = x.extents;
  const auto wide = [&](ValueId v) { return b.op("Cast", {v}, {{"to", static_cast<int64_t>(ElementType::I64)}}); };
  const auto all = [&](ValueId otherwise, ValueId given) { return b.op("ScatterElements", {otherwise, node.inputs[3], wide(given)}); };
  const ValueId starts = all(b.integers(std::vector<int64_t>(static_cast<std::size_t>(rank), 0)), node.inputs[1]);
  const ValueId ends = all(b.shape(extents), node.inputs[2]);
  const ValueId steps =
      node.has_input(4) ? all(b.integers(std::vector<int64_t>(static_cast<std::size_t>(rank), 1)), node.inputs[4]) : kAbsent;
  std::vector<int64_t> list;
  for (int axis = 0; axis < rank; ++axis) list.push_back(axis);
  node.inputs = {node.inputs[0], starts, ends, b.integers(std::move(list)), steps};
}

void resolve_slice(GraphBuilder& b, Node& node) {
  if (node.version >= 10) return name_sliced_axes(b, node);
  const ValueId starts = b.integers(node.integers("starts")), ends = b.integers(node.integers("ends"));
  const ValueId axes = node.has("axes") ? b.integers(node.integers("axes")) : kAbsent;
  node.inputs = {node.inputs[0], starts, ends, axes};
  for (const char* name : {"starts", "ends", "axes"}) node.attributes.erase(name);
}

/// A bound as an index from the front, clamped to [low, high]. Numbers near the limits of int64 mean infinity.
Dim clamped(Dim bound, Dim extent, Dim low, Dim high) {
  constexpr int64_t kInfinite = int64_t{1} << 60;
  if (bound.min_value() >= kInfinite) return high;
  if (bound.max_value() <= -kInfinite) return low;
  if (bound.max_value() < 0) bound += extent;
  else if (bound.min_value() < 0) bound += extent * min(1, max(0, Dim(0) - bound));  // only if it is negative
  return max(low, min(high, bound));
}

/// One axis of a slice: the first element, the number of elements, and the step between them.
struct Range {
  Dim start = 0, extent = 0, step = 1;
};

Range range_of(Dim starts, Dim ends, Dim step, Dim n) {
  const Dim start = clamped(starts, n, 0, n), end = clamped(ends, n, 0, n);
  const Dim back_end = clamped(ends, n, -1, n - 1);
  Dim back_start = clamped(starts, n, 0, n - 1);
  if (n.min_value() < 1) back_start = min(back_start, n - 1);  // there is no element to start from
  if (!step.is_constant()) {
    const Dim back = indicator_negative(step);
    const Dim forward_extent = max(0, ceil_div(end - start, max(step, 1))),
              back_extent = max(0, ceil_div(back_start - back_end, max(Dim(0) - step, 1)));
    return {select(back, back_start, start), select(back, back_extent, forward_extent), step};
  }
  // A step as long as the axis takes at most one element, however long the step is.
  const int64_t given = step.value(), magnitude = given == INT64_MIN ? INT64_MAX : given < 0 ? -given : given;
  constexpr int64_t kLong = int64_t{1} << 31;
  const Dim length = magnitude < kLong ? Dim(magnitude) : min(magnitude, max(n, 1));
  return {given > 0 ? start : back_start, max(0, ceil_div(given > 0 ? end - start : back_start - back_end, length)),
          given > 0 ? length : Dim(0) - length};
}

/// The range of each axis of the input. Empty for axes that are taken as a whole.
std::vector<std::optional<Range>> ranges_of(const Operands& operands) {
  const Extents& in = operands.in[0];
  const auto rank = static_cast<int>(in.size());
  std::vector<std::optional<Range>> ranges(in.size());
  const auto &starts = operands.known(1), &ends = operands.known(2);
  const auto step = [&](std::size_t k) { return operands.has(4) ? operands.known(4)[k] : Dim(1); };
  if (operands.has(3) && !Inference::are_constant(operands.known(3))) {
    // If only a run knows the axes, every axis is sliced: by what is given for it, or else from its start to its end.
    for (int axis = 0; axis < rank; ++axis) {
      const Dim extent = in[static_cast<std::size_t>(axis)];
      Dim first = 0, last = extent, by = 1;
      for (std::size_t k = 0; k < starts.size(); ++k) {
        const Dim named = axis_indicators({operands.known(3)[k]}, rank)[static_cast<std::size_t>(axis)];
        first = select(named, starts[k], first);
        last = select(named, ends[k], last);
        by = select(named, step(k), by);
      }
      ranges[static_cast<std::size_t>(axis)] = range_of(first, last, by, extent);
    }
    return ranges;
  }
  for (std::size_t k = 0; k < starts.size(); ++k) {
    const int64_t given = operands.has(3) ? operands.known(3)[k].value() : static_cast<int64_t>(k);
    const auto axis = static_cast<std::size_t>(given < 0 ? given + rank : given);
    ranges[axis] = range_of(starts[k], ends[k], step(k), in[axis]);
  }
  return ranges;
}

Moves move_slice(const Operands& operands) {
  Move move = move_all(operands, 0, 0, {});
  move.from.assign(operands.in[0].size(), 0);
  const auto ranges = ranges_of(operands);
  for (std::size_t axis = 0; axis < ranges.size(); ++axis) {
    if (!ranges[axis]) continue;
    move.axes[axis].extent = operands.out.empty() || operands.out[0].size() <= axis ? ranges[axis]->extent : operands.out[0][axis];
    if (!(ranges[axis]->extent.max_value() <= 1)) move.axes[axis].from_step = ranges[axis]->step;
    move.from[axis] = ranges[axis]->start;
  }
  return {{std::move(move)}, nullptr};
}

void infer_slice(Inference& n) {
  const std::size_t count = n.known_elements(1, "the starts").size();
  if (n.known_elements(2, "the ends").size() != count) n.fail("has as many starts as ends");
  if (n.has(3)) {
    const DimList axes = n.known_elements(3, "the axes");
    if (axes.size() != count) n.fail(fmt::format("has {} axes for {} starts", axes.size(), count));
    static_cast<void>(checked_axis_indicators(n, axes, n.rank(0)));
  } else if (count > n.extents(0).size()) {
    n.fail(fmt::format("has {} starts for a tensor of rank {}", count, n.rank(0)));
  }
  if (n.has(4)) {
    const DimList steps = n.known_elements(4, "the steps");
    if (steps.size() != count) n.fail(fmt::format("has {} steps for {} starts", steps.size(), count));
    for (Dim step : steps) {
      if (step == Dim(0)) n.fail("a step is 0");
      if (!step.is_constant()) n.unify(indicator_equal(step, 0), 0, "the steps");
    }
  }
  Operands operands(n.graph(), n.node());
  operands.out.clear();
  const auto ranges = ranges_of(operands);
  Extents out = n.extents(0);
  for (std::size_t axis = 0; axis < out.size(); ++axis) {
    if (ranges[axis])
      out[axis] = ranges[axis]->extent.depends_on_run() ? n.let(ranges[axis]->extent, "slice", out[axis]) : ranges[axis]->extent;
  }
  n.output(0, n.element(0), std::move(out));
  infer_moved_elements(n, move_slice);
}

}  // namespace

extern const Operator op_Slice;
const Operator op_Slice{.name = "Slice",
                        .min_inputs = 3,
                        .max_inputs = 5,
                        .max_outputs = 1,
                        .resolve = resolve_slice,
                        .infer = infer_slice,
                        .evaluate = evaluate_as<move_slice>,
                        .lower = lower_as<move_slice>,
                        .layout = LayoutRule::Follows};

}  // namespace onnxc
