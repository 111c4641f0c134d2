// Placements in the arena for buffers whose sizes are only known when a model runs.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/lowering/memory/interval_coloring.h"

namespace onnxc {

/// A placement that is valid for all sizes: each buffer lies directly above the highest of a few others.
///   offset(b) = max(0, offset(c) + size(c) for c in below[b])
/// computed in `order`. Buffers that are never live at once do not restrict each other.
struct Stacking {
  std::vector<int> order;               // every buffer once; below[b] holds earlier ones only
  std::vector<std::vector<int>> below;  // minimal: no entry always lies below another entry of the same list
  std::vector<int64_t> heights;         // one for each sample
};

struct StackingOptions {
  std::size_t most = 4;  // the largest number of stackings
  // An excess over the coloring of one sample alone, as a share of its height, that does not justify another
  // stacking.
  double tolerance = 0.01;
};

/// The fewest stackings, at least one, such that at each sample the lowest of them is about as low as color_intervals
/// gets for that sample alone. Lifetimes come from `intervals`, whose `size` is ignored. sizes_per_sample[s][b] is
/// the size of buffer b at sample s, rounded up to a multiple of its alignment; all alignments are equal. Stackings
/// are made for the first samples; others are added if they turn out to be served badly. So many samples cost little
/// if all sizes grow alike.
std::vector<Stacking> stack_intervals(std::span<const Interval> intervals, std::span<const std::vector<int64_t>> sizes_per_sample,
                                      const StackingOptions& options = {});

}  // namespace onnxc
