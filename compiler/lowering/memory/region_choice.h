// The most valuable content of one memory: which buffers, that come and go, and which constants, that stay.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/lowering/memory/interval_coloring.h"

namespace onnxc {

/// A buffer of the arena that may lie in a memory. `value` is positive: what it is worth to have it there.
struct IntervalOffer {
  Interval interval;
  double value;
};
/// A constant, which takes its bytes in all steps.
struct ConstantOffer {
  int64_t bytes;
  double value;
};

struct RegionChoice {
  std::vector<int> intervals, constants;  ///< numbers of the offers taken, ascending
  int64_t interval_bytes = 0;             ///< the most bytes of the intervals that live in one step
  int64_t constant_bytes = 0;
  double value = 0;
  /// No choice is worth more. Else the effort was too small to tell.
  bool proved_best = false;
};

/// What to take into `capacity` bytes such that constants and, in each step, live intervals fit together by their sizes, at the most value. Whether
/// these intervals can be coloured within the bytes is another question; mostly they can.
RegionChoice choose_for_region(std::span<const IntervalOffer> intervals, std::span<const ConstantOffer> constants, int64_t capacity);

}  // namespace onnxc
