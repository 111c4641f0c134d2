#include "compiler/ops/run_time_axes.h"

#include <fmt/format.h>

namespace onnxc {

Dim indicator_equal(Dim a, Dim b) { return min(1, max(0, Dim(1) - max(a - b, b - a))); }
Dim indicator_negative(Dim a) { return min(1, max(0, Dim(0) - a)); }

namespace {

Dim counted_from_front(Dim axis, int rank) {
  if (axis.is_constant()) return axis.value() < 0 ? axis + rank : axis;
  return axis + indicator_negative(axis) * rank;
}

}  // namespace

DimList axis_indicators(const DimList& axes, int rank) {
  DimList indicators(static_cast<std::size_t>(rank), Dim(0));
  for (Dim given : axes) {
    const Dim axis = counted_from_front(given, rank);
    for (int k = 0; k < rank; ++k)
      indicators[static_cast<std::size_t>(k)] = max(indicators[static_cast<std::size_t>(k)], indicator_equal(axis, k));
  }
  return indicators;
}

DimList checked_axis_indicators(Inference& n, const DimList& axes, int rank) {
  for (Dim axis : axes) {
    if (axis.is_constant()) static_cast<void>(n.axis(axis.value(), rank));
  }
  DimList indicators = axis_indicators(axes, rank);
  // All given axes are named: none is out of range, and none is repeated.
  Dim named = 0;
  for (Dim& i : indicators) {
    i = n.let(i, "named");
    named += i;
  }
  const auto count = static_cast<int64_t>(axes.size());
  if (named.is_constant() && named.value() != count) n.fail("an axis is given twice");
  if (!named.is_constant()) n.unify(named, count, "the axes");
  return indicators;
}

Extents drop_axes(Inference& n, const Extents& extents, const DimList& dropped, std::size_t count) {
  Extents out(extents.size() - count, Dim(0));
  Dim position = 0;  // of the next axis that is kept
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    const Dim kept = Dim(1) - dropped[axis];
    for (std::size_t k = 0; k < out.size(); ++k) out[k] += kept * indicator_equal(position, static_cast<int64_t>(k)) * extents[axis];
    position = n.let(position + kept, "place");
  }
  for (Dim& d : out) d = n.let(d, "kept");
  return out;
}

Extents insert_axes(Inference& n, const Extents& extents, const DimList& added) {
  Extents out;
  Dim next = 0;  // axis of `extents`
  for (std::size_t axis = 0; axis < added.size(); ++axis) {
    Dim own = 0;
    for (std::size_t k = 0; k < extents.size(); ++k) own += indicator_equal(next, static_cast<int64_t>(k)) * extents[k];
    out.push_back(n.let(select(added[axis], 1, own), "x"));
    next = n.let(next + Dim(1) - added[axis], "place");
  }
  return out;
}

}  // namespace onnxc
