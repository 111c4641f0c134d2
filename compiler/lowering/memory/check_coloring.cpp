// A sweep over time keeps the live intervals sorted by offset. They are disjoint as long as no error was found, so a
// new interval can only collide with the one below or the one above it.
#include "compiler/lowering/memory/check_coloring.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <tuple>
#include <vector>

namespace onnxc {

std::optional<std::string> find_coloring_error(std::span<const Interval> intervals, std::span<const int64_t> offsets, int64_t height) {
  if (offsets.size() != intervals.size()) return fmt::format("{} offsets for {} intervals", offsets.size(), intervals.size());

  struct Event {
    int step;
    bool begins;  // at the same step, ends come first: lifetimes are half-open
    std::size_t who;
  };
  std::vector<Event> events;
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    const auto& [size, first, last, alignment] = intervals[i];
    if (offsets[i] < 0) return fmt::format("interval {} has offset {}", i, offsets[i]);
    if (alignment > 1 && offsets[i] % alignment != 0)
      return fmt::format("interval {} has offset {}, which is not a multiple of {}", i, offsets[i], alignment);
    if (size <= 0 || first >= last) continue;
    if (size > height || offsets[i] > height - size)
      return fmt::format("interval {} ends at {} + {}, above the height {}", i, offsets[i], size, height);
    events.push_back({first, true, i});
    events.push_back({last, false, i});
  }
  std::ranges::sort(events, {}, [](const Event& e) { return std::tuple(e.step, e.begins, e.who); });

  std::map<int64_t, std::size_t> live;  // by offset
  for (const Event& event : events) {
    const std::size_t i = event.who;
    if (!event.begins) {
      live.erase(offsets[i]);
      continue;
    }
    const auto above = live.lower_bound(offsets[i]);
    std::optional<std::size_t> other;
    if (above != live.end() && above->first < offsets[i] + intervals[i].size) other = above->second;
    if (above != live.begin()) {
      const std::size_t under = std::prev(above)->second;
      if (offsets[under] + intervals[under].size > offsets[i]) other = under;
    }
    if (other) {
      return fmt::format("intervals {} (bytes [{}, {})) and {} (bytes [{}, {})) overlap in step {}", *other, offsets[*other],
                         offsets[*other] + intervals[*other].size, i, offsets[i], offsets[i] + intervals[i].size, event.step);
    }
    live.emplace(offsets[i], i);
  }
  return std::nullopt;
}

std::optional<std::string> find_region_error(std::span<const Interval> intervals, std::span<const int> regions,
                                             std::span<const int64_t> offsets, std::span<const int64_t> capacities) {
  if (regions.size() != intervals.size()) return fmt::format("{} regions for {} intervals", regions.size(), intervals.size());
  if (offsets.size() != intervals.size()) return fmt::format("{} offsets for {} intervals", offsets.size(), intervals.size());
  for (std::size_t i = 0; i < regions.size(); ++i) {
    if (regions[i] < 0 || regions[i] >= static_cast<int>(capacities.size()))
      return fmt::format("interval {} is in region {}", i, regions[i]);
  }
  for (std::size_t r = 0; r < capacities.size(); ++r) {
    // Intervals of other regions keep their numbers and have no size here.
    std::vector<Interval> here(intervals.begin(), intervals.end());
    for (std::size_t i = 0; i < here.size(); ++i) {
      if (regions[i] != static_cast<int>(r)) here[i].size = 0;
    }
    if (const auto error = find_coloring_error(here, offsets, capacities[r])) return fmt::format("region {}: {}", r, *error);
  }
  return std::nullopt;
}

}  // namespace onnxc
