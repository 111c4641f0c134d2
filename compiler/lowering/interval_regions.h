// Buffers over several memories: what does not fit into the fast one goes to the next.
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "compiler/lowering/interval_coloring.h"

namespace onnxc {

/// A capacity that nothing exceeds.
inline constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::max();

struct RegionColoring {
  static constexpr int kNowhere = -1;

  std::vector<int> region;       // of each interval, in the caller's order; kNowhere: it fits into none
  std::vector<int64_t> offsets;  // in its region
  std::vector<int64_t> heights;  // bytes used of each region

  bool complete() const;  // every interval has a place
};

/// Spreads intervals over regions with `capacities` (bytes), the preferred one first. What is accessed most for each byte and step that it
/// takes is placed first: `accesses` holds the bytes read and written of each interval, or is empty where all are alike. What fits into a
/// region together stays there, so a single unbounded region gives what color_intervals gives. A choice and a packing by rules: neither is
/// claimed to be the best.
RegionColoring color_regions(std::span<const Interval> intervals, std::span<const int64_t> accesses, std::span<const int64_t> capacities,
                             const ColoringOptions& options = {});

}  // namespace onnxc
