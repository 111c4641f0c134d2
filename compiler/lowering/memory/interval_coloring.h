// Offsets in the arena for buffers with known lifetimes: the packing step of memory planning.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace onnxc {

/// A buffer that must stay where it is during the steps [first, last). With first >= last or size 0 it never
/// conflicts with another.
struct Interval {
  int64_t size;  // bytes, >= 0
  int first, last;
  int64_t alignment;  // of the offset; a power of two
};

inline bool is_live(const Interval& interval) { return interval.first < interval.last && interval.size > 0; }
/// Whether two intervals overlap in time, if both are live at all.
inline bool lifetimes_overlap(const Interval& a, const Interval& b) { return a.first < b.last && b.first < a.last; }

struct ColoringOptions {
  // Of the exact search, as search_canonical counts it; the default takes about a second. 0: greedy placement alone.
  int64_t effort = 3'000'000;
  int64_t good_enough = 0;  // bytes: a height that need not be improved
};

struct Coloring {
  std::vector<int64_t> offsets;  // one for each interval, in the caller's order
  int64_t height = 0;            // bytes of arena, a multiple of the smallest alignment
  // No coloring is lower: the most bytes live in one step, or more if a search has proved it.
  int64_t lower_bound = 0;

  bool proved_optimal() const { return height == lower_bound; }
};

/// Places intervals so that no two that are live at once overlap, as low as greedy orders and, where these miss the
/// bound, an exact search can. The same input and options give the same answer: effort is counted in placements,
/// never in seconds.
Coloring color_intervals(std::span<const Interval> intervals, const ColoringOptions& options = {});

}  // namespace onnxc
