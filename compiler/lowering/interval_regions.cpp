// Region after region, in the order of preference:
//
// 1. When all that is left fits together, it is coloured and nothing remains.
// 2. Else the intervals are taken in the order of accesses per byte and step, as long as no step has more bytes live than the capacity.
// 3. These are coloured. What sticks out at the top is taken out again: the others stay where they are.
// 4. Everything left is tried once more, in the same order, at the lowest gap that holds it.
#include "compiler/lowering/interval_regions.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "compiler/support/error.h"

namespace onnxc {
namespace {

/// One region in the making.
class Filling {
 public:
  Filling(std::span<const Interval> intervals, int64_t capacity) : intervals_(intervals), capacity_(capacity) {}

  /// The numbers of `wanted`, the most wanted first, that found no place.
  std::vector<int> fill(const std::vector<int>& wanted, const ColoringOptions& options) {
    if (color(wanted, options)) return {};
    std::vector<int> chosen;
    for (int i : wanted) {
      chosen.push_back(i);
      if (most_live_bytes_beside(chosen, i) > capacity_) chosen.pop_back();
    }
    color(chosen, options);
    std::vector<int> left;
    for (int i : wanted) {
      if (std::ranges::find(placed_, i, &Placed::id) == placed_.end() && !place_in_gap(i)) left.push_back(i);
    }
    return left;
  }

  struct Placed {
    int64_t offset;
    int id;
  };
  const std::vector<Placed>& placed() const { return placed_; }

 private:
  /// Colours `ids` alone and keeps what lies within the capacity; says whether that is all.
  bool color(const std::vector<int>& ids, const ColoringOptions& options) {
    placed_.clear();
    if (ids.empty()) return true;
    std::vector<Interval> members;
    for (int i : ids) members.push_back(intervals_[i]);
    ColoringOptions bounded = options;
    if (capacity_ != kUnbounded) bounded.good_enough = std::max(options.good_enough, capacity_);
    const Coloring coloring = color_intervals(members, bounded);
    for (std::size_t k = 0; k < ids.size(); ++k) {
      if (!is_live(members[k]) || coloring.offsets[k] <= capacity_ - members[k].size) placed_.push_back({coloring.offsets[k], ids[k]});
    }
    std::ranges::sort(placed_, {}, [](const Placed& p) { return std::pair(p.offset, p.id); });
    return placed_.size() == ids.size();
  }

  /// The most bytes of `ids` live in a step of interval i. Live bytes only grow where something begins.
  int64_t most_live_bytes_beside(const std::vector<int>& ids, int i) const {
    int64_t most = 0;
    for (int at : ids) {
      const int step = std::max(intervals_[at].first, intervals_[i].first);
      if (step >= intervals_[i].last || step >= intervals_[at].last) continue;
      int64_t live = 0;
      for (int j : ids) live += intervals_[j].first <= step && step < intervals_[j].last ? intervals_[j].size : 0;
      most = std::max(most, live);
    }
    return most;
  }

  bool place_in_gap(int i) {
    const Interval& interval = intervals_[i];
    const int64_t alignment = std::max<int64_t>(interval.alignment, 1);
    int64_t offset = 0;
    for (const Placed& p : placed_) {
      const Interval& other = intervals_[p.id];
      if (!is_live(other) || !live_together(interval, other)) continue;
      if (offset + interval.size <= p.offset) break;
      offset = std::max(offset, (p.offset + other.size + alignment - 1) / alignment * alignment);
    }
    if (offset > capacity_ - interval.size) return false;
    placed_.insert(std::ranges::upper_bound(placed_, offset, {}, &Placed::offset), {offset, i});
    return true;
  }

  std::span<const Interval> intervals_;
  int64_t capacity_;
  std::vector<Placed> placed_;  // by offset
};

}  // namespace

bool RegionColoring::complete() const { return std::ranges::find(region, kNowhere) == region.end(); }

RegionColoring color_regions(std::span<const Interval> intervals, std::span<const int64_t> accesses, std::span<const int64_t> capacities,
                             const ColoringOptions& options) {
  ONNXC_CHECK(accesses.empty() || accesses.size() == intervals.size(), "every interval has a number of accesses");
  RegionColoring result;
  result.region.assign(intervals.size(), RegionColoring::kNowhere);
  result.offsets.assign(intervals.size(), 0);
  const auto benefit = [&](int i) {
    const Interval& interval = intervals[i];
    const double cost = static_cast<double>(interval.size) * (static_cast<double>(interval.last) - interval.first);
    return cost > 0 ? (accesses.empty() ? 1.0 : static_cast<double>(accesses[i])) / cost : std::numeric_limits<double>::max();
  };
  std::vector<int> left(intervals.size());
  std::iota(left.begin(), left.end(), 0);
  std::ranges::stable_sort(left, {}, [&](int i) { return -benefit(i); });
  for (std::size_t r = 0; r < capacities.size(); ++r) {
    Filling filling(intervals, capacities[r]);
    left = filling.fill(left, options);
    int64_t& height = result.heights.emplace_back(0);
    for (const auto& [offset, id] : filling.placed()) {
      result.region[id] = static_cast<int>(r);
      result.offsets[id] = offset;
      if (is_live(intervals[id])) height = std::max(height, offset + intervals[id].size);
    }
  }
  return result;
}

}  // namespace onnxc
