// The fast part of interval_coloring.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/lowering/memory/interval_coloring.h"

namespace onnxc {

struct GreedyColoring {
  std::vector<int64_t> offsets;  ///< in the caller's order
  int64_t height;                ///< bytes
};

enum class GreedyEffort {
  Orders,          ///< one placement for each of some twenty orders and rules
  OrdersAndMoves,  ///< then a local search from the best of them: up to 4,000 more
};

/// The lowest of several greedy placements; it stops at the first one that is not above `target`. All intervals have
/// a size, a lifetime and an alignment of at least 1. Costs up to n^2 for each placement.
GreedyColoring color_greedily(std::span<const Interval> intervals, int64_t target, GreedyEffort effort);

}  // namespace onnxc
