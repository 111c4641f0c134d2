// Offsets in the arena for buffers with known lifetimes: the packing step of memory planning.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace onnxc {

/// A buffer that must stay where it is during the steps [first, last). With first >= last or size 0 it is never in anyone's way.
struct Interval {
  int64_t size;  // bytes, >= 0
  int first, last;
  int64_t alignment;  // of the offset; a power of two
};

struct Coloring {
  std::vector<int64_t> offsets;  // one for each interval, in the caller's order
  int64_t height = 0;            // bytes of arena, a multiple of the smallest alignment
  int64_t lower_bound = 0;       // no coloring is lower: the most bytes live in one step. height == lower_bound proves optimality
};

/// Places intervals so that no two live at once overlap, as low as a set of greedy orders and a short local search get.
/// The same input gives the same answer: effort is counted in placements, never in seconds.
Coloring color_intervals(std::span<const Interval> intervals);

/// A placement that stays valid for every size: each buffer lies directly above the highest of a few others.
///   offset(b) = max(0, offset(c) + size(c) for c in below[b])
/// computed in `order`. Buffers that are never live at once do not restrict each other.
struct Stacking {
  std::vector<int> order;               // every buffer once; below[b] holds earlier ones only
  std::vector<std::vector<int>> below;  // minimal: no entry lies always below another entry of the same list
  std::vector<int64_t> heights;         // one for each sample
};

/// The stacking with the smallest sum of heights that was found. Lifetimes come from `intervals`, whose `size` is ignored;
/// sizes_per_sample[s][b] is the size of buffer b at sample s, already a multiple of its alignment. All alignments are equal.
Stacking stack_intervals(std::span<const Interval> intervals, std::span<const std::vector<int64_t>> sizes_per_sample);

}  // namespace onnxc
