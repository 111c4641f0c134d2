// Packing intervals is strip packing with one coordinate given, which is NP-hard, but the graphs of real networks are mild:
// greedy placement in a good order usually meets the lower bound, and then there is nothing left to search.
//
//   offset                     Steps run to the right. `a` and `c` share bytes since they are never live at once;
//     2 |   bbbbbb             `b` overlaps both in time and lies above both.
//     1 |aaaa  cccc
//       +----------- step
//
// 1. The problem falls apart at steps that no buffer crosses; the parts are independent.
// 2. Each part is placed in several orders (by size, area, lifetime, start, degree, pressure), each with first fit (the lowest gap
//    that is large enough) and best fit (the tightest). A run stops as soon as it exceeds the best height known.
// 3. Where the bound is not met, buffers that stick out at the top are moved to the front of the order and the part is placed
//    again: what is hard to place goes first. The number of rounds is fixed by the number of intervals.
//
// A placement costs a scan of the buffers that overlap it in time, kept in the order of their offsets. Ideas: Pisarchyk and Lee,
// "Efficient Memory Management for Deep Neural Net Inference" (greedy by size and by breadth).
#include "compiler/lowering/interval_coloring.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

namespace onnxc {
namespace {

constexpr int64_t kNoHeight = std::numeric_limits<int64_t>::max();

int64_t round_up(int64_t value, int64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

bool live_together(const Interval& a, const Interval& b) { return a.first < b.last && b.first < a.last; }

bool is_live(const Interval& interval) { return interval.first < interval.last && interval.size > 0; }

/// A small generator of our own: results must not depend on the standard library.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  /// Uniform enough in [0, bound).
  std::size_t below(std::size_t bound) {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<std::size_t>((z ^ (z >> 31)) % bound);
  }

 private:
  uint64_t state_;
};

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

/// One connected group, with everything that the greedy runs ask about it.
class Group {
 public:
  explicit Group(std::vector<Interval> members) : members_(std::move(members)), offsets_(members_.size()), start_(members_.size()) {
    const std::size_t n = members_.size();
    // A sweep over the ends gives the live bytes and with them the bound, the pressure and the number of neighbours.
    std::vector<int> steps;
    for (const Interval& m : members_) {
      steps.push_back(m.first);
      steps.push_back(m.last);
    }
    std::ranges::sort(steps);
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    const auto slot = [&](int step) { return static_cast<std::size_t>(std::ranges::lower_bound(steps, step) - steps.begin()); };
    std::vector<int64_t> live(steps.size() + 1), started(steps.size() + 1), ended(steps.size() + 1);
    for (const Interval& m : members_) {
      live[slot(m.first)] += m.size;
      live[slot(m.last)] -= m.size;
      ++started[slot(m.first)];
      ++ended[slot(m.last)];
    }
    std::partial_sum(live.begin(), live.end(), live.begin());
    std::partial_sum(started.begin(), started.end(), started.begin());
    std::partial_sum(ended.begin(), ended.end(), ended.begin());
    bound_ = *std::ranges::max_element(live);
    pressure_.resize(n);
    degree_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t from = slot(members_[i].first), to = slot(members_[i].last);
      pressure_[i] = *std::max_element(live.begin() + static_cast<std::ptrdiff_t>(from), live.begin() + static_cast<std::ptrdiff_t>(to));
      degree_[i] = started[to - 1] - ended[from];
    }
  }

  int64_t bound() const { return bound_; }
  int64_t height() const { return height_; }
  const std::vector<int64_t>& offsets() const { return offsets_; }

  void search() {
    if (members_.size() == 1) {
      height_ = members_[0].size;
      return;
    }
    std::vector<int> best_order;
    bool best_fit = false;
    for (const std::vector<int>& order : greedy_orders()) {
      for (bool tight : {false, true}) {
        if (!place(order, tight)) continue;
        best_order = order;
        best_fit = tight;
        if (height_ == bound_) return;
      }
    }
    // 40 rounds for 5,000 intervals, thousands for a few hundred: about the same time.
    const auto n = static_cast<int64_t>(members_.size());
    const int64_t rounds = std::clamp<int64_t>(400'000'000 / (n * n), 8, 4'000);
    promote(std::move(best_order), best_fit, static_cast<int>(rounds));
  }

 private:
  std::vector<std::vector<int>> greedy_orders() const {
    std::vector<int> all(members_.size());
    std::iota(all.begin(), all.end(), 0);
    const auto sorted = [&](auto key) {
      std::vector<int> order = all;
      std::ranges::stable_sort(order, {}, key);
      return order;
    };
    const auto life = [&](int i) { return int64_t{members_[i].last} - members_[i].first; };
    const auto size = [&](int i) { return members_[i].size; };
    using Key = std::pair<int64_t, int64_t>;
    return {
        sorted([&](int i) { return Key(-size(i), -life(i)); }),
        sorted([&](int i) { return Key(-pressure_[i], -size(i)); }),
        sorted([&](int i) { return Key(members_[i].first, -size(i)); }),
        sorted([&](int i) { return Key(-members_[i].last, -size(i)); }),
        sorted([&](int i) { return Key(-life(i), -size(i)); }),
        sorted([&](int i) { return -static_cast<double>(size(i)) * static_cast<double>(life(i)); }),
        sorted([&](int i) { return Key(-degree_[i], -size(i)); }),
        sorted([&](int i) { return -static_cast<double>(size(i)) * static_cast<double>(degree_[i]); }),
        sorted([&](int i) { return Key(members_[i].first, members_[i].last); }),
        sorted([&](int i) { return Key(members_[i].first, -members_[i].last); }),
    };
  }

  /// Places all members in `order`. Keeps the result and says true when it is lower than what was known.
  bool place(const std::vector<int>& order, bool tight) {
    placed_.clear();
    int64_t top = 0;
    for (int i : order) {
      const Interval& m = members_[i];
      int64_t floor = 0, chosen = -1, chosen_gap = kNoHeight;
      for (const Placed& p : placed_) {
        if (p.first >= m.last || m.first >= p.last) continue;
        const int64_t at = round_up(floor, m.alignment);
        if (at + m.size <= p.begin && p.begin - floor < chosen_gap) {
          chosen = at;
          chosen_gap = p.begin - floor;
          if (!tight) break;
        }
        floor = std::max(floor, p.end);
      }
      if (chosen < 0) chosen = round_up(floor, m.alignment);
      top = std::max(top, chosen + m.size);
      if (top >= height_) return false;
      start_[i] = chosen;
      const Placed placed{chosen, chosen + m.size, m.first, m.last};
      placed_.insert(std::ranges::upper_bound(placed_, chosen, {}, &Placed::begin), placed);
    }
    height_ = top;
    offsets_ = start_;
    return true;
  }

  /// Moves what stuck out at the top, or happened to be in its way, towards the front and tries again.
  void promote(std::vector<int> order, bool tight, int rounds) {
    Random random(members_.size());
    for (int round = 0; round < rounds && height_ > bound_; ++round) {
      std::vector<int> candidate = order;
      // The first mover is one of the highest; a few random moves leave local minima.
      std::vector<std::size_t> highest;
      for (std::size_t k = 0; k < candidate.size(); ++k) {
        if (offsets_[candidate[k]] + members_[candidate[k]].size == height_) highest.push_back(k);
      }
      const auto move_forward = [&](std::size_t from) {
        const std::size_t to = random.below(from + 1);
        std::rotate(candidate.begin() + static_cast<std::ptrdiff_t>(to), candidate.begin() + static_cast<std::ptrdiff_t>(from),
                    candidate.begin() + static_cast<std::ptrdiff_t>(from) + 1);
      };
      move_forward(highest[random.below(highest.size())]);
      for (std::size_t extra = random.below(3); extra > 0; --extra) move_forward(random.below(candidate.size()));
      if (place(candidate, round % 4 == 3 ? !tight : tight)) order = std::move(candidate);
    }
  }

  struct Placed {
    int64_t begin, end;  // bytes
    int first, last;
  };

  std::vector<Interval> members_;
  std::vector<int64_t> pressure_;  // the most bytes live in any step of the member's life
  std::vector<int64_t> degree_;    // members live at some time of its life, itself included
  int64_t bound_ = 0, height_ = kNoHeight;
  std::vector<int64_t> offsets_;  // of the best run
  std::vector<int64_t> start_;    // of the run in progress
  std::vector<Placed> placed_;
};

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
  int64_t best_sum = kNoHeight;
  const auto try_order = [&](std::vector<int> order) {
    const int64_t sum = heights.sum(order);
    if (sum >= best_sum) return false;
    best_sum = sum;
    best = std::move(order);
    return true;
  };
  const auto color = [&](const std::vector<int64_t>& sample) {
    for (std::size_t i = 0; i < sized.size(); ++i) sized[i].size = sample[i];
    Coloring coloring = color_intervals(sized);
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

Coloring color_intervals(std::span<const Interval> intervals) {
  Coloring result;
  result.offsets.assign(intervals.size(), 0);
  // Every offset is a multiple of the smallest alignment, so sizes may be rounded up to it without loss.
  int64_t grain = kNoHeight;
  for (const Interval& interval : intervals) grain = std::min(grain, std::max<int64_t>(interval.alignment, 1));
  for (const std::vector<int>& ids : split_in_time(intervals)) {
    std::vector<Interval> members;
    for (int id : ids) {
      members.push_back(intervals[id]);
      members.back().size = round_up(members.back().size, grain);
      members.back().alignment = std::max<int64_t>(members.back().alignment, 1);
    }
    Group group(std::move(members));
    group.search();
    for (std::size_t k = 0; k < ids.size(); ++k) result.offsets[ids[k]] = group.offsets()[k];
    result.height = std::max(result.height, group.height());
    result.lower_bound = std::max(result.lower_bound, group.bound());
  }
  return result;
}

Stacking stack_intervals(std::span<const Interval> intervals, std::span<const std::vector<int64_t>> sizes_per_sample) {
  StackHeights heights(intervals, sizes_per_sample);
  Stacking result;
  result.order = choose_order(intervals, sizes_per_sample, heights);
  result.below = reduce_predecessors(result.order, heights.conflicts());
  for (std::size_t s = 0; s < sizes_per_sample.size(); ++s) result.heights.push_back(heights.height(result.order, s));
  return result;
}

}  // namespace onnxc
