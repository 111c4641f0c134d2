// Places in the arena for buffers whose sizes are known only when a model runs.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/lowering/interval_coloring.h"

namespace onnxc {

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
