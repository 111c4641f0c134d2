// Packing intervals is strip packing with one coordinate given, which is NP-hard. But the graphs of real networks are
// benign: greedy placement in a good order usually meets the lower bound.
//
// 1. The intervals are placed in several orders (by size, area, lifetime, start, degree, pressure), each with first fit (the lowest gap
//    that is large enough) and best fit (the tightest). A run stops as soon as it exceeds the best height known.
// 2. If the target is not met, buffers that end at the top are moved towards the front of the order, and all are placed again: what is hard
//    to place goes first. The number of rounds depends only on the number of intervals.
//
// A placement costs, for each buffer, a scan of those already placed, in the order of their offsets. Ideas: Pisarchyk
// and Lee, "Efficient Memory Management for Deep Neural Net Inference" (greedy by size and by breadth).
#include "compiler/lowering/memory/greedy_coloring.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "compiler/support/random.h"
#include "compiler/support/sort_unique.h"

namespace onnxc {
namespace {

constexpr int64_t kNoHeight = std::numeric_limits<int64_t>::max();

int64_t round_up(int64_t value, int64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

/// What the runs need to know of the intervals, and the best placement so far.
class Greedy {
 public:
  Greedy(std::span<const Interval> members, int64_t target)
      : members_(members.begin(), members.end()), target_(target), offsets_(members_.size()), start_(members_.size()) {
    const std::size_t n = members_.size();
    // A sweep over beginnings and ends computes the live bytes, and from them the pressure and the number of
    // neighbours.
    std::vector<int> steps;
    for (const Interval& m : members_) {
      steps.push_back(m.first);
      steps.push_back(m.last);
    }
    sort_unique(steps);
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
    pressure_.resize(n);
    degree_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t from = slot(members_[i].first), to = slot(members_[i].last);
      pressure_[i] = *std::max_element(live.begin() + static_cast<std::ptrdiff_t>(from), live.begin() + static_cast<std::ptrdiff_t>(to));
      degree_[i] = started[to - 1] - ended[from];
    }
  }

  int64_t height() const { return height_; }
  const std::vector<int64_t>& offsets() const { return offsets_; }

  void search(GreedyEffort effort) {
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
        if (height_ <= target_) return;
      }
    }
    if (effort == GreedyEffort::Orders) return;
    // Rounds cost n^2, so their number keeps the time about constant.
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

  /// Places all members in `order`. If the result is lower than the best so far, keeps it and returns true.
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

  /// Moves members towards the front, above all those that end at the top, and tries again.
  void promote(std::vector<int> order, bool tight, int rounds) {
    Random random(members_.size());
    for (int round = 0; round < rounds && height_ > target_; ++round) {
      std::vector<int> candidate = order;
      // The first to move is one of the highest. A few random moves help to leave local minima.
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
  std::vector<int64_t> pressure_;  // the most bytes live in any step of the member's lifetime
  std::vector<int64_t> degree_;    // members live at some time of its lifetime, itself included
  int64_t target_, height_ = kNoHeight;
  std::vector<int64_t> offsets_;  // of the best run
  std::vector<int64_t> start_;    // of the run in progress
  std::vector<Placed> placed_;
};

}  // namespace

GreedyColoring color_greedily(std::span<const Interval> intervals, int64_t target, GreedyEffort effort) {
  Greedy greedy(intervals, target);
  greedy.search(effort);
  return {greedy.offsets(), greedy.height()};
}

}  // namespace onnxc
