// Easy problems are solved by greedy placement (greedy_coloring.h), which meets the lower bound. For all others there
// is a complete search (canonical_search.h).
//
//   offset                     Steps run to the right. `a` and `c` share bytes since they are never live at once;
//     2 |   bbbbbb             `b` overlaps both in time and lies above both.
//     1 |aaaa  cccc
//       +----------- step
//
// 1. The problem splits at steps that no buffer crosses. The subproblems are independent, and only the highest one
//    matters, so none is improved below the highest lower bound.
// 2. Each subproblem is placed in a few greedy orders.
// 3. Where these miss the bound, the search looks for a placement as low as the bound, then for higher ones, halfway to the best known. A
//    search that completes without finding one raises the bound.
// 4. Where the search gave up, the greedy orders are varied.
#include "compiler/lowering/memory/interval_coloring.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "compiler/lowering/memory/canonical_search.h"
#include "compiler/lowering/memory/greedy_coloring.h"

namespace onnxc {
namespace {

/// Groups of intervals that are connected through overlapping lifetimes, in the order of time.
std::vector<std::vector<int>> split_in_time(std::span<const Interval> intervals) {
  std::vector<int> by_first;
  for (int i = 0; i < static_cast<int>(intervals.size()); ++i) {
    if (is_live(intervals[i])) by_first.push_back(i);
  }
  std::ranges::stable_sort(by_first, {}, [&](int i) { return intervals[i].first; });
  std::vector<std::vector<int>> groups;
  int end = 0;
  for (int i : by_first) {
    if (groups.empty() || intervals[i].first >= end) groups.emplace_back();
    groups.back().push_back(i);
    end = groups.back().size() == 1 ? intervals[i].last : std::max(end, intervals[i].last);
  }
  return groups;
}

/// One such group, and what is known of it.
struct Subproblem {
  std::vector<int> ids;
  std::vector<Interval> members;
  std::vector<int64_t> offsets;
  int64_t height = 0, bound = 0;
  // All heights of canonical placements are multiples of it: it divides all sizes, or at least all offsets.
  int64_t unit = 1;
};

/// The largest number of bytes that are live in one step.
int64_t most_live_bytes(std::span<const Interval> intervals) {
  std::vector<std::pair<int, int64_t>> changes;  // at the same step, ends come first, as they are negative
  for (const Interval& i : intervals) {
    changes.emplace_back(i.first, i.size);
    changes.emplace_back(i.last, -i.size);
  }
  std::ranges::sort(changes);
  int64_t live = 0, most = 0;
  for (const auto& [step, bytes] : changes) most = std::max(most, live += bytes);
  return most;
}

/// Every offset is a multiple of the smallest alignment, so sizes may be rounded up to it without loss.
std::vector<Subproblem> split(std::span<const Interval> intervals) {
  int64_t grain = std::numeric_limits<int64_t>::max();
  for (const Interval& interval : intervals) {
    if (is_live(interval)) grain = std::min(grain, std::max<int64_t>(interval.alignment, 1));
  }
  std::vector<Subproblem> problems;
  for (std::vector<int>& ids : split_in_time(intervals)) {
    Subproblem& problem = problems.emplace_back();
    int64_t common = 0, largest_alignment = 1;
    for (int id : ids) {
      const Interval& i = intervals[id];
      problem.members.push_back({(i.size + grain - 1) / grain * grain, i.first, i.last, std::max<int64_t>(i.alignment, 1)});
      common = std::gcd(common, problem.members.back().size);
      largest_alignment = std::max(largest_alignment, i.alignment);
    }
    problem.unit = common % largest_alignment == 0 ? common : grain;
    problem.bound = most_live_bytes(problem.members);
    problem.ids = std::move(ids);
  }
  return problems;
}

/// Lowers a subproblem to `target`, or as far as the effort allows.
void search(Subproblem& problem, int64_t target, int64_t& effort) {
  // Below `lowest` there is no placement, or the search for one gave up.
  int64_t capacity = std::max(problem.bound, target), lowest = capacity;
  while (problem.height > lowest && effort > 0) {
    int64_t share = effort - effort / 2;
    effort -= share;
    SearchResult result = search_canonical(problem.members, capacity, share);
    effort += std::max<int64_t>(share, 0);
    if (result.outcome == SearchOutcome::Found) {
      problem.offsets = std::move(result.offsets);
      problem.height = 0;
      for (std::size_t i = 0; i < problem.members.size(); ++i)
        problem.height = std::max(problem.height, problem.offsets[i] + problem.members[i].size);
    } else {
      lowest = (capacity / problem.unit + 1) * problem.unit;
      if (result.outcome == SearchOutcome::Impossible) problem.bound = std::max(problem.bound, lowest);
    }
    capacity = lowest + (problem.height - lowest) / 2;
  }
}

/// Tries greedy orders, then the search, then greedy moves, until one of them meets the target or a proof ends it.
void color_subproblem(Subproblem& problem, int64_t target, int64_t& effort) {
  const auto color = [&](GreedyEffort greedy_effort) {
    GreedyColoring greedy = color_greedily(problem.members, target, greedy_effort);
    if (!problem.offsets.empty() && greedy.height >= problem.height) return;
    problem.offsets = std::move(greedy.offsets);
    problem.height = greedy.height;
  };
  color(GreedyEffort::Orders);
  search(problem, target, effort);
  if (problem.height > std::max(problem.bound, target)) color(GreedyEffort::OrdersAndMoves);
}

}  // namespace

Coloring color_intervals(std::span<const Interval> intervals, const ColoringOptions& options) {
  std::vector<Subproblem> problems = split(intervals);
  Coloring result;
  result.offsets.assign(intervals.size(), 0);
  for (const Subproblem& problem : problems) result.lower_bound = std::max(result.lower_bound, problem.bound);
  int64_t effort = options.effort;
  for (Subproblem& problem : problems) {
    const int64_t target = std::max(result.lower_bound, options.good_enough);
    color_subproblem(problem, target, effort);
    result.lower_bound = std::max(result.lower_bound, problem.bound);
    result.height = std::max(result.height, problem.height);
    for (std::size_t k = 0; k < problem.ids.size(); ++k) result.offsets[problem.ids[k]] = problem.offsets[k];
  }
  return result;
}

}  // namespace onnxc
