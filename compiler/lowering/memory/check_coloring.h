// An independent judge of memory plans. It shares nothing with the planner but the type of its question.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "compiler/lowering/memory/interval_coloring.h"

namespace onnxc {

/// Describes what is wrong with `offsets`: a wrong count, a negative or misaligned offset, an end beyond `height`, or
/// two intervals that are live in the same step and share a byte. Empty if they are right. Costs n log n.
std::optional<std::string> find_coloring_error(std::span<const Interval> intervals, std::span<const int64_t> offsets, int64_t height);

/// The same for intervals in several regions with `capacities`: interval i lies at offsets[i] of regions[i]. A region
/// that does not exist is an error as well.
std::optional<std::string> find_region_error(std::span<const Interval> intervals, std::span<const int> regions,
                                             std::span<const int64_t> offsets, std::span<const int64_t> capacities);

}  // namespace onnxc
