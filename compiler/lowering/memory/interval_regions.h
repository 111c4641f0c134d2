// Buffers and constants over several memories: what is accessed most lies in the fastest.
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "compiler/lowering/memory/interval_coloring.h"

namespace onnxc {

/// What is to be spread. Intervals are parts of an arena and need a place; constants live in all steps and may do without.
struct RegionProblem {
  struct Memory {
    int64_t capacity;  ///< bytes
    bool takes_intervals = true, takes_constants = true;
  };
  std::vector<Interval> intervals;
  std::vector<double> interval_accesses;  ///< of each: not negative
  std::vector<int64_t> constants;         ///< bytes of each
  std::vector<double> constant_accesses;
  std::vector<Memory> memories;  ///< the preferred one first
};

struct RegionPlan {
  static constexpr int kNowhere = -1;

  std::vector<int> interval_regions, constant_regions;  ///< the number of a memory, or kNowhere
  std::vector<int64_t> offsets;                         ///< of each interval, in its region
  std::vector<int64_t> heights, constant_bytes;         ///< of each region: bytes that intervals and that constants take

  bool complete() const;  ///< every interval has a place
};

/// The first memory gets the choice that serves the most accesses (region_choice.h), then the next one of what is left. In the last one that takes
/// intervals, these precede constants. Where some interval finds no place, it is taken first elsewhere, and all is done again.
RegionPlan spread_over_regions(const RegionProblem& problem, const ColoringOptions& options = {});

}  // namespace onnxc
