// The exact search behind interval_coloring: is there a placement within a capacity?
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compiler/lowering/memory/interval_coloring.h"

namespace onnxc {

enum class SearchOutcome {
  Found,       ///< offsets were found
  Impossible,  ///< the search is complete: there is no placement within the capacity
  GaveUp,      ///< the effort was used up
};

struct SearchResult {
  SearchOutcome outcome;
  std::vector<int64_t> offsets;  ///< in the caller's order; only if Found
};

/// Searches offsets such that every interval ends at or below `capacity`. All intervals have a size, a lifetime and
/// an alignment of at least 1. `effort` limits the search: a node costs as many units as it has intervals left to
/// place. What was used is subtracted.
SearchResult search_canonical(std::span<const Interval> intervals, int64_t capacity, int64_t& effort);

}  // namespace onnxc
