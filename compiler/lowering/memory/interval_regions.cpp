// Region after region:
//
// 1. What to take is chosen by sizes alone (region_choice.h).
// 2. The chosen intervals are coloured. What sticks out at the top is taken out again: the others stay where they are.
// 3. Where something stuck out, all that is left is tried once more, by accesses for each byte, at the lowest gap that holds it.
//
// A region that is filled with the most accessed of all may leave something large for regions that are too small for it. Then what found no place is worth
// more than all accesses together, and everything is chosen again.
#include "compiler/lowering/memory/interval_regions.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "compiler/lowering/memory/placements.h"
#include "compiler/lowering/memory/region_choice.h"
#include "compiler/support/error.h"

namespace onnxc {
namespace {

constexpr int kMostAttempts = 8;

/// The intervals of one region, in the making.
class Filling {
 public:
  Filling(std::span<const Interval> intervals, int64_t capacity) : intervals_(intervals), capacity_(capacity) {}

  /// Colours `ids`; says whether all of them lie within the capacity. Others have no place.
  bool color(const std::vector<int>& ids, const ColoringOptions& options) {
    std::vector<Interval> members;
    for (const int i : ids) members.push_back(intervals_[i]);
    const Coloring coloring = color_intervals(members, options);
    for (std::size_t k = 0; k < ids.size(); ++k) {
      if (coloring.offsets[k] <= capacity_ - members[k].size) place(ids[k], coloring.offsets[k]);
    }
    return placed_.size() == ids.size();
  }

  bool place_in_gap(int i) {
    const Interval& interval = intervals_[i];
    const int64_t alignment = std::max<int64_t>(interval.alignment, 1);
    int64_t offset = 0;
    for (const Placed& p : placed_) {
      const Interval& other = intervals_[p.id];
      if (!lifetimes_overlap(interval, other)) continue;
      if (offset + interval.size <= p.offset) break;
      offset = std::max(offset, aligned_bytes(p.offset + other.size, alignment));
    }
    if (offset > capacity_ - interval.size) return false;
    place(i, offset);
    return true;
  }

  struct Placed {
    int64_t offset;
    int id;
  };
  const std::vector<Placed>& placed() const { return placed_; }
  int64_t height() const {
    int64_t height = 0;
    for (const Placed& p : placed_) height = std::max(height, p.offset + intervals_[p.id].size);
    return height;
  }

 private:
  void place(int i, int64_t offset) { placed_.insert(std::ranges::upper_bound(placed_, offset, {}, &Placed::offset), {offset, i}); }

  std::span<const Interval> intervals_;
  int64_t capacity_;
  std::vector<Placed> placed_;  // by offset
};

/// One attempt to spread all, region after region.
class Spreading {
 public:
  /// `bonus`: what it is worth, beside its accesses, that interval i has a place at all.
  Spreading(const RegionProblem& problem, const std::vector<double>& bonus, const ColoringOptions& options)
      : problem_(problem), bonus_(bonus), options_(options) {
    plan_.interval_regions.assign(problem.intervals.size(), RegionPlan::kNowhere);
    plan_.constant_regions.assign(problem.constants.size(), RegionPlan::kNowhere);
    plan_.offsets.assign(problem.intervals.size(), 0);
    plan_.heights.assign(problem.memories.size(), 0);
    plan_.constant_bytes.assign(problem.memories.size(), 0);
    for (const double accesses : problem.interval_accesses) all_ += accesses;
    for (const double accesses : problem.constant_accesses) all_ += accesses;
    for (std::size_t r = 0; r < problem.memories.size(); ++r) {
      if (problem.memories[r].takes_intervals) last_ = static_cast<int>(r);
    }
  }

  RegionPlan run() {
    for (int r = 0; r < std::ssize(problem_.memories); ++r) fill(r);
    return std::move(plan_);
  }

 private:
  /// What it is worth that interval i lies in the region.
  double value(int i, int region) const { return problem_.interval_accesses[i] + (bonus_[i] + (region == last_ ? 1 : 0)) * all_; }

  void fill(int region) {
    const auto& [capacity, takes_intervals, takes_constants] = problem_.memories[static_cast<std::size_t>(region)];
    std::vector<int> ids, constant_ids;
    std::vector<IntervalOffer> offers;
    std::vector<ConstantOffer> constants;
    for (std::size_t i = 0; i < problem_.intervals.size() && takes_intervals; ++i) {
      if (plan_.interval_regions[i] != RegionPlan::kNowhere) continue;
      if (!is_live(problem_.intervals[i])) {
        plan_.interval_regions[i] = region;
        continue;
      }
      ids.push_back(static_cast<int>(i));
      offers.push_back({problem_.intervals[i], value(ids.back(), region)});
    }
    for (std::size_t i = 0; i < problem_.constants.size() && takes_constants; ++i) {
      if (plan_.constant_regions[i] != RegionPlan::kNowhere) continue;
      constant_ids.push_back(static_cast<int>(i));
      constants.push_back({problem_.constants[i], problem_.constant_accesses[i]});
    }
    const RegionChoice choice = choose_for_region(offers, constants, capacity);
    int64_t& constant_bytes = plan_.constant_bytes[static_cast<std::size_t>(region)];
    const auto take_constant = [&](int i) {
      plan_.constant_regions[i] = region;
      constant_bytes += problem_.constants[i];
    };
    for (const int i : choice.constants) take_constant(constant_ids[i]);
    std::vector<int> chosen;
    for (const int i : choice.intervals) chosen.push_back(ids[i]);
    Filling filling(problem_.intervals, capacity - constant_bytes);
    const bool fits = filling.color(chosen, options_);
    for (const auto& [offset, id] : filling.placed()) plan_.interval_regions[id] = region;
    if (!fits) {
      std::ranges::stable_sort(ids, std::ranges::greater(), [&](int i) {
        const Interval& interval = problem_.intervals[i];
        return value(i, region) / (static_cast<double>(interval.size) * (interval.last - interval.first));
      });
      for (const int i : ids) {
        if (plan_.interval_regions[i] == RegionPlan::kNowhere && filling.place_in_gap(i)) plan_.interval_regions[i] = region;
      }
    }
    for (const auto& [offset, id] : filling.placed()) plan_.offsets[id] = offset;
    int64_t& height = plan_.heights[static_cast<std::size_t>(region)];
    height = filling.height();
    // The knapsack counts in steps of many bytes where the memory is large, and intervals may have left some.
    std::ranges::stable_sort(constant_ids, std::ranges::greater(), [&](int i) {
      return problem_.constant_accesses[i] / static_cast<double>(std::max<int64_t>(problem_.constants[i], 1));
    });
    for (const int i : constant_ids) {
      if (plan_.constant_regions[i] == RegionPlan::kNowhere && problem_.constants[i] <= capacity - height - constant_bytes)
        take_constant(i);
    }
  }

  const RegionProblem& problem_;
  const std::vector<double>& bonus_;
  const ColoringOptions& options_;
  RegionPlan plan_;
  double all_ = 1;  // more than all accesses together
  int last_ = -1;   // the last region that takes intervals
};

}  // namespace

bool RegionPlan::complete() const { return std::ranges::find(interval_regions, kNowhere) == interval_regions.end(); }

RegionPlan spread_over_regions(const RegionProblem& problem, const ColoringOptions& options) {
  ONNXC_CHECK(problem.interval_accesses.size() == problem.intervals.size() && problem.constant_accesses.size() == problem.constants.size(),
              "everything that is to be spread has a number of accesses");
  std::vector<double> bonus(problem.intervals.size(), 0);
  const RegionPlan first = Spreading(problem, bonus, options).run();
  if (first.complete()) return first;
  RegionPlan plan = first;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    for (std::size_t i = 0; i < bonus.size(); ++i) bonus[i] += plan.interval_regions[i] == RegionPlan::kNowhere ? 1 : 0;
    plan = Spreading(problem, bonus, options).run();
    if (plan.complete()) return plan;
  }
  // Whatever takes most of the bytes and steps goes first.
  double most = 1;
  for (const Interval& i : problem.intervals) most = std::max(most, static_cast<double>(i.size) * (i.last - i.first));
  for (std::size_t i = 0; i < bonus.size(); ++i)
    bonus[i] = static_cast<double>(problem.intervals[i].size) * (problem.intervals[i].last - problem.intervals[i].first) / most;
  plan = Spreading(problem, bonus, options).run();
  return plan.complete() ? plan : first;
}

}  // namespace onnxc
