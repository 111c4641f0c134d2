// An order of the buffers is a placement for all sizes: each lies on the highest of the earlier ones that are live with it.
//
// The order is sought at sample sizes: that of the offsets of a greedy coloring of each sample, then moves of single buffers towards the
// front, which are kept when they lower the sum of the heights.
#include "compiler/lowering/interval_stacking.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "compiler/support/random.h"

namespace onnxc {
namespace {

bool live_together(const Interval& a, const Interval& b) { return a.first < b.last && b.first < a.last; }

/// Who overlaps whom in time, as one flat list for each member.
std::vector<std::vector<int>> find_conflicts(std::span<const Interval> intervals) {
  std::vector<int> by_first(intervals.size());
  std::iota(by_first.begin(), by_first.end(), 0);
  std::ranges::stable_sort(by_first, {}, [&](int i) { return intervals[i].first; });
  std::vector<std::vector<int>> conflicts(intervals.size());
  std::vector<int> live;
  for (int i : by_first) {
    if (intervals[i].first >= intervals[i].last) continue;
    std::erase_if(live, [&](int c) { return !live_together(intervals[i], intervals[c]); });
    for (int c : live) {
      conflicts[i].push_back(c);
      conflicts[c].push_back(i);
    }
    live.push_back(i);
  }
  return conflicts;
}

/// Heights of stackings for one set of lifetimes and samples.
class StackHeights {
 public:
  StackHeights(std::span<const Interval> intervals, std::span<const std::vector<int64_t>> sizes)
      : conflicts_(find_conflicts(intervals)), sizes_(sizes), tops_(intervals.size()), position_(intervals.size()) {}

  const std::vector<std::vector<int>>& conflicts() const { return conflicts_; }

  int64_t height(const std::vector<int>& order, std::size_t sample) {
    for (std::size_t k = 0; k < order.size(); ++k) position_[order[k]] = static_cast<int>(k);
    int64_t height = 0;
    for (int b : order) {
      int64_t offset = 0;
      for (int c : conflicts_[b]) {
        if (position_[c] < position_[b]) offset = std::max(offset, tops_[c]);
      }
      tops_[b] = offset + sizes_[sample][b];
      height = std::max(height, tops_[b]);
    }
    return height;
  }

  int64_t sum(const std::vector<int>& order) {
    int64_t total = 0;
    for (std::size_t s = 0; s < sizes_.size(); ++s) total += height(order, s);
    return total;
  }

  /// Tops of the last order and sample asked for.
  const std::vector<int64_t>& tops() const { return tops_; }

 private:
  std::vector<std::vector<int>> conflicts_;
  std::span<const std::vector<int64_t>> sizes_;
  std::vector<int64_t> tops_;
  std::vector<int> position_;
};

/// Sorted by offset, any valid placement is also a stacking order, and stacking can only lower it.
std::vector<int> order_by_offset(const Coloring& coloring, std::span<const Interval> intervals) {
  std::vector<int> order(intervals.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int i) { return std::pair(coloring.offsets[i], intervals[i].first); });
  return order;
}

std::vector<int> choose_order(std::span<const Interval> intervals, std::span<const std::vector<int64_t>> sizes, StackHeights& heights) {
  std::vector<Interval> sized(intervals.begin(), intervals.end());
  std::vector<int64_t> summed(intervals.size());
  for (const auto& sample : sizes) {
    for (std::size_t i = 0; i < summed.size(); ++i) summed[i] += sample[i];
  }
  int64_t bound = 0;
  std::vector<int> best;
  int64_t best_sum = std::numeric_limits<int64_t>::max();
  const auto try_order = [&](std::vector<int> order) {
    const int64_t sum = heights.sum(order);
    if (sum >= best_sum) return false;
    best_sum = sum;
    best = std::move(order);
    return true;
  };
  const auto color = [&](const std::vector<int64_t>& sample) {
    for (std::size_t i = 0; i < sized.size(); ++i) sized[i].size = sample[i];
    Coloring coloring = color_intervals(sized, {.effort = 0});
    try_order(order_by_offset(coloring, sized));
    return coloring.lower_bound;
  };
  for (const auto& sample : sizes) bound += color(sample);
  if (best_sum > bound && sizes.size() > 1) color(summed);
  if (best.empty()) {  // no samples: any order is as good as another
    best.resize(intervals.size());
    std::iota(best.begin(), best.end(), 0);
    return best;
  }

  // Moving one of the highest buffers, or a random one, down the order; rounds by the cost of one evaluation.
  std::size_t edges = intervals.size();
  for (const auto& list : heights.conflicts()) edges += list.size();
  const std::size_t rounds = std::clamp<std::size_t>(200'000'000 / (edges * sizes.size()), 8, 2'000);
  Random random(intervals.size());
  for (std::size_t round = 0; round < rounds && best_sum > bound; ++round) {
    std::vector<int> candidate = best;
    std::size_t from = random.below(candidate.size());
    if (round % 2 == 0) {
      const int64_t height = heights.height(candidate, (round / 2) % sizes.size());
      while (heights.tops()[candidate[from]] != height) from = (from + 1) % candidate.size();
    }
    const std::size_t to = random.below(from + 1);
    std::rotate(candidate.begin() + static_cast<std::ptrdiff_t>(to), candidate.begin() + static_cast<std::ptrdiff_t>(from),
                candidate.begin() + static_cast<std::ptrdiff_t>(from) + 1);
    try_order(std::move(candidate));
  }
  return best;
}

/// For each buffer its earlier conflicts, without those that lie below another of them anyway.
std::vector<std::vector<int>> reduce_predecessors(const std::vector<int>& order, const std::vector<std::vector<int>>& conflicts) {
  std::vector<int> position(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) position[order[k]] = static_cast<int>(k);
  std::vector<std::vector<int>> below(order.size());
  std::vector<int> reached(order.size(), -1);  // by whom last
  std::vector<int> stack;
  for (int b : order) {
    std::vector<int> earlier;
    for (int c : conflicts[b]) {
      if (position[c] < position[b]) earlier.push_back(c);
    }
    std::ranges::sort(earlier, std::greater{}, [&](int c) { return position[c]; });
    for (int c : earlier) {
      if (reached[c] == b) continue;
      below[b].push_back(c);
      stack.push_back(c);
      while (!stack.empty()) {
        const int top = stack.back();
        stack.pop_back();
        for (int d : below[top]) {
          if (std::exchange(reached[d], b) != b) stack.push_back(d);
        }
      }
    }
  }
  return below;
}

}  // namespace

Stacking stack_intervals(std::span<const Interval> intervals, std::span<const std::vector<int64_t>> sizes_per_sample) {
  StackHeights heights(intervals, sizes_per_sample);
  Stacking result;
  result.order = choose_order(intervals, sizes_per_sample, heights);
  result.below = reduce_predecessors(result.order, heights.conflicts());
  for (std::size_t s = 0; s < sizes_per_sample.size(); ++s) result.heights.push_back(heights.height(result.order, s));
  return result;
}

}  // namespace onnxc
