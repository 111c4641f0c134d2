// Slice: every steps[k]-th element of [starts[k], ends[k]) on some axes. Negative bounds count from the end, bounds beyond it stop there; a negative
// step walks backwards, down to and without its end. Before opset 10 all were attributes.
#include <fmt/format.h>

#include "compiler/ops/tensor/moves.h"

namespace onnxc {
namespace {

void resolve_slice(GraphBuilder& b, Node& node) {
  if (node.version >= 10) return;
  const ValueId starts = b.integers(node.integers("starts")), ends = b.integers(node.integers("ends"));
  const ValueId axes = node.has("axes") ? b.integers(node.integers("axes")) : kAbsent;
  node.inputs = {node.inputs[0], starts, ends, axes};
  for (const char* name : {"starts", "ends", "axes"}) node.attributes.erase(name);
}

/// A bound as an index from the front, clamped to [low, high]. Numbers near the ends of int64 stand for infinity.
Dim clamped(Dim bound, Dim extent, Dim low, Dim high) {
  constexpr int64_t kFar = int64_t{1} << 60;
  if (bound.min_value() >= kFar) return high;
  if (bound.max_value() <= -kFar) return low;
  if (bound.max_value() < 0) bound += extent;
  else if (bound.min_value() < 0) bound += extent * min(1, max(0, Dim(0) - bound));  // only where it is negative
  return max(low, min(high, bound));
}

Moves move_slice(const Operands& operands) {
  const Extents& in = operands.in[0];
  const auto rank = static_cast<int64_t>(in.size());
  Move move = move_all(operands, 0, 0, {});
  move.from.assign(in.size(), 0);
  const auto &starts = operands.known(1), &ends = operands.known(2);
  for (std::size_t k = 0; k < starts.size(); ++k) {
    int64_t given = operands.has(3) ? operands.known(3)[k].value() : static_cast<int64_t>(k);
    const auto axis = static_cast<std::size_t>(given < 0 ? given + rank : given);
    const int64_t step = operands.has(4) ? operands.known(4)[k].value() : 1;
    const Dim n = in[axis];
    const Dim start = step > 0 ? clamped(starts[k], n, 0, n) : clamped(starts[k], n, 0, n - 1);
    const Dim end = step > 0 ? clamped(ends[k], n, 0, n) : clamped(ends[k], n, -1, n - 1);
    // A step as long as the axis takes one element at most, however long it is.
    const int64_t magnitude = step == INT64_MIN ? INT64_MAX : step < 0 ? -step : step;
    move.axes[axis].extent = max(0, ceil_div(step > 0 ? end - start : start - end, magnitude));
    if (move.axes[axis].extent.max_value() > 1) move.axes[axis].from_step = step;
    move.from[axis] = start;
  }
  return {{std::move(move)}, nullptr};
}

void infer_slice(Inference& n) {
  const std::size_t count = n.known_elements(1, "the starts").size();
  if (n.known_elements(2, "the ends").size() != count) n.fail("has as many starts as ends");
  std::vector<char> seen(n.extents(0).size(), 0);
  if (n.has(3)) {
    const std::vector<int64_t> axes = n.known_integers(3, "the axes");
    if (axes.size() != count) n.fail(fmt::format("has {} axes for {} starts", axes.size(), count));
    for (int64_t axis : axes) {
      if (seen[static_cast<std::size_t>(n.axis(axis, n.rank(0)))]++) n.fail(fmt::format("axis {} is given twice", axis));
    }
  } else if (count > seen.size()) {
    n.fail(fmt::format("has {} starts for a tensor of rank {}", count, seen.size()));
  }
  if (n.has(4)) {
    const std::vector<int64_t> steps = n.known_integers(4, "the steps");
    if (steps.size() != count) n.fail(fmt::format("has {} steps for {} starts", steps.size(), count));
    for (int64_t step : steps) {
      if (step == 0) n.fail("a step is 0");
    }
  }
  const Operands operands(n.graph(), n.node());
  const Moves moves = move_slice(operands);
  Extents out;
  for (const auto& axis : moves.list[0].axes) out.push_back(axis.extent);
  n.output(0, n.element(0), std::move(out));
  infer_moved_elements(n, move_slice);
}

}  // namespace

extern const Operator op_Slice;
const Operator op_Slice{.name = "Slice", .min_inputs = 3, .max_inputs = 5, .max_outputs = 1, .resolve = resolve_slice, .infer = infer_slice,
                        .evaluate = evaluate_as<move_slice>, .lower = lower_as<move_slice>, .layout = LayoutRule::Follows};

}  // namespace onnxc
