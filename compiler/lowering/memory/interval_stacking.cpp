// An order of the buffers defines a placement for all sizes: each buffer lies on the highest of the earlier ones that
// are live with it.
//
// The buffers of one sample's coloring, sorted by offset, form an order that is at least as low as the coloring at
// that sample. Usually one of these orders is about as low as the colorings of all samples. If none is, it is
// improved by moving single buffers. If that is not enough, up to a few more orders are added, and a run takes the
// lowest:
//
//   sizes n, n, 1024     small n: the constant buffer determines the arena      large n: the others do
//
// Excess: how far the lowest order lies above the coloring of a sample alone. Moves are judged by the sum of its
// squares.
#include "compiler/lowering/memory/interval_stacking.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "compiler/support/random.h"

namespace onnxc {
namespace {

using Order = std::vector<int>;
// Bytes, one for each active sample. They are floating-point numbers, which vectors compare.
using Heights = std::vector<double>;

/// For each interval the others that overlap it in time.
std::vector<std::vector<int>> find_conflicts(std::span<const Interval> intervals) {
  std::vector<int> by_first(intervals.size());
  std::iota(by_first.begin(), by_first.end(), 0);
  std::ranges::stable_sort(by_first, {}, [&](int i) { return intervals[i].first; });
  std::vector<std::vector<int>> conflicts(intervals.size());
  std::vector<int> live;
  for (int i : by_first) {
    if (intervals[i].first >= intervals[i].last) continue;
    std::erase_if(live, [&](int c) { return !lifetimes_overlap(intervals[i], intervals[c]); });
    for (int c : live) {
      conflicts[i].push_back(c);
      conflicts[c].push_back(i);
    }
    live.push_back(i);
  }
  return conflicts;
}

/// Any valid placement, sorted by offset, is a stacking order, and stacking can only lower it.
Order order_by_offset(const Coloring& coloring, std::span<const Interval> intervals) {
  Order order(intervals.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int i) { return std::pair(coloring.offsets[i], intervals[i].first); });
  return order;
}

/// For each buffer its earlier conflicts, without those that lie below another one of them anyway.
std::vector<std::vector<int>> reduce_predecessors(const Order& order, const std::vector<std::vector<int>>& conflicts) {
  std::vector<int> position(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) position[order[k]] = static_cast<int>(k);
  std::vector<std::vector<int>> below(order.size());
  std::vector<int> reached(order.size(), -1);  // by which buffer last
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

class Search {
 public:
  Search(std::span<const Interval> intervals, std::span<const std::vector<int64_t>> sizes, const StackingOptions& options)
      : intervals_(intervals.begin(), intervals.end()),
        sizes_(sizes),
        options_(options),
        conflicts_(find_conflicts(intervals)),
        position_(intervals.size()),
        is_active_(sizes.size()),
        random_(intervals.size()) {
    for (const auto& list : conflicts_) edges_ += list.size();
  }

  std::vector<Stacking> run() {
    const std::size_t n = intervals_.size();
    std::size_t colorings = std::clamp<std::size_t>(20'000'000 / (n * n + 1), kFirst, kMostActive);
    for (std::size_t s = 0; s < std::min(kFirst, sizes_.size()); ++s) activate(s, color(s));
    colorings -= active_.size();
    while (!active_.empty()) {
      choose();
      if (colorings == 0 || !activate_bad_samples(colorings)) break;
    }
    if (chosen_.empty()) {  // no samples: all orders are equally good
      chosen_.emplace_back(n);
      std::iota(chosen_.front().begin(), chosen_.front().end(), 0);
    }
    std::vector<Stacking> stackings;
    for (Order& order : chosen_) {
      Stacking& stacking = stackings.emplace_back(Stacking{std::move(order), {}, {}});
      stacking.below = reduce_predecessors(stacking.order, conflicts_);
      for (std::size_t s = 0; s < sizes_.size(); ++s) stacking.heights.push_back(height(stacking.order, sizes_[s]));
    }
    return stackings;
  }

 private:
  static constexpr std::size_t kLanes = 8, kFirst = 8, kMostActive = 64, kMostAtOnce = 6;
  static constexpr int64_t kColoringEffort = 200'000;

  Coloring color(std::size_t sample) {
    for (std::size_t i = 0; i < intervals_.size(); ++i) intervals_[i].size = sizes_[sample][i];
    return color_intervals(intervals_, {.effort = kColoringEffort});
  }

  void activate(std::size_t sample, const Coloring& coloring) {
    active_.push_back(sample);
    is_active_[sample] = true;
    target_.push_back(static_cast<double>(std::max<int64_t>(coloring.height, 1)));
    candidates_.push_back(order_by_offset(coloring, intervals_));
    stride_ = (active_.size() + kLanes - 1) / kLanes * kLanes;
    flat_sizes_.assign(stride_ * intervals_.size(), 0);
    for (std::size_t i = 0; i < intervals_.size(); ++i) {
      for (std::size_t k = 0; k < active_.size(); ++k) flat_sizes_[i * stride_ + k] = static_cast<double>(sizes_[active_[k]][i]);
    }
    tops_.resize(flat_sizes_.size());
  }

  /// Activates the worst of the samples at which the chosen orders are too high. Returns false if there are none.
  bool activate_bad_samples(std::size_t& colorings) {
    struct Bad {
      double excess;
      std::size_t sample;
      Coloring coloring;
    };
    // with minus the excess over the bytes that are live at once
    std::vector<std::pair<double, std::size_t>> suspects;
    for (std::size_t s = 0; s < sizes_.size(); ++s) {
      if (is_active_[s]) continue;
      int64_t lowest = std::numeric_limits<int64_t>::max();
      for (const Order& order : chosen_) lowest = std::min(lowest, height(order, sizes_[s]));
      const double excess = static_cast<double>(lowest) / static_cast<double>(std::max<int64_t>(most_live(sizes_[s]), 1)) - 1;
      if (excess > options_.tolerance) suspects.emplace_back(-excess, s);
    }
    std::ranges::sort(suspects);
    std::size_t added = 0;
    for (const auto& [negative, s] : suspects) {
      if (colorings == 0 || added == kMostAtOnce) break;
      --colorings;
      activate(s, color(s));
      ++added;
    }
    return added > 0;
  }

  int64_t most_live(const std::vector<int64_t>& sizes) {
    if (events_.empty()) {
      for (std::size_t i = 0; i < intervals_.size(); ++i) {
        if (intervals_[i].first >= intervals_[i].last) continue;
        events_.emplace_back(2 * intervals_[i].first + 1, static_cast<int>(i));
        events_.emplace_back(2 * intervals_[i].last, static_cast<int>(i));
      }
      std::ranges::sort(events_);
    }
    int64_t live = 0, most = 0;
    for (const auto& [at, i] : events_) most = std::max(most, live += at % 2 != 0 ? sizes[i] : -sizes[i]);
    return most;
  }

  int64_t height(const Order& order, const std::vector<int64_t>& sizes) {
    for (std::size_t k = 0; k < order.size(); ++k) position_[order[k]] = static_cast<int>(k);
    std::vector<int64_t> tops(order.size());
    int64_t height = 0;
    for (int b : order) {
      int64_t offset = 0;
      for (int c : conflicts_[b]) {
        if (position_[c] < position_[b]) offset = std::max(offset, tops[c]);
      }
      tops[b] = offset + sizes[b];
      height = std::max(height, tops[b]);
    }
    return height;
  }

  /// The heights at all active samples. Afterwards tops_ holds the tops of all buffers.
  Heights heights(const Order& order) {
    for (std::size_t k = 0; k < order.size(); ++k) position_[order[k]] = static_cast<int>(k);
    Heights heights(stride_);
    for (int b : order) {
      double* const top = &tops_[static_cast<std::size_t>(b) * stride_];
      std::fill_n(top, stride_, 0);
      for (int c : conflicts_[b]) {
        if (position_[c] < position_[b]) raise(top, &tops_[static_cast<std::size_t>(c) * stride_]);
      }
      const double* const size = &flat_sizes_[static_cast<std::size_t>(b) * stride_];
      for (std::size_t k = 0; k < stride_; ++k) top[k] += size[k];
      raise(heights.data(), top);
    }
    heights.resize(active_.size());
    return heights;
  }

  /// a[k] = max(a[k], b[k])
  void raise(double* a, const double* b) const {
    for (std::size_t k = 0; k < stride_; k += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) a[k + lane] = std::max(a[k + lane], b[k + lane]);
    }
  }

  double excess(double height, std::size_t k) const { return std::max(0.0, height / target_[k] - 1); }

  /// The sum of squared excesses, where the lower of the two heights counts.
  double cost(const Heights& own, const Heights& others) const {
    double sum = 0;
    for (std::size_t k = 0; k < own.size(); ++k) {
      const double e = excess(std::min(own[k], others[k]), k);
      sum += e * e;
    }
    return sum;
  }

  double worst(const Heights& lowest) const {
    double worst = 0;
    for (std::size_t k = 0; k < lowest.size(); ++k) worst = std::max(worst, excess(lowest[k], k));
    return worst;
  }

  /// Moves a random buffer: mostly one of the chain that determines the height at sample `k`, sometimes any.
  void move_one(Order& order, std::size_t k) {
    std::size_t from = random_.below(order.size());
    if (random_.below(4) != 0) {
      const auto top = [&](int b) { return tops_[static_cast<std::size_t>(b) * stride_ + k]; };
      int b = *std::ranges::max_element(order, {}, top);
      chain_.assign(1, b);
      for (double bottom = top(b) - flat_sizes_[static_cast<std::size_t>(b) * stride_ + k]; bottom > 0;) {
        const auto below = std::ranges::find_if(conflicts_[b], [&](int c) { return position_[c] < position_[b] && top(c) == bottom; });
        b = *below;
        chain_.push_back(b);
        bottom = top(b) - flat_sizes_[static_cast<std::size_t>(b) * stride_ + k];
      }
      from = static_cast<std::size_t>(position_[chain_[random_.below(chain_.size())]]);
    }
    const auto at = order.begin();
    const auto begin = static_cast<std::ptrdiff_t>(from);
    if (const auto to = static_cast<std::ptrdiff_t>(random_.below(order.size())); to < begin)
      std::rotate(at + to, at + begin, at + begin + 1);
    else std::rotate(at + begin, at + begin + 1, at + to + 1);
  }

  /// The order that complements `others` best: the best candidate, improved by moves.
  std::pair<Order, Heights> find_order(const Heights& others, const Order* start = nullptr) {
    Order best;
    Heights best_heights;
    double best_cost = std::numeric_limits<double>::infinity();
    const auto try_order = [&](const Order& order) {
      Heights own = heights(order);
      if (const double c = cost(own, others); c < best_cost) best = order, best_heights = std::move(own), best_cost = c;
    };
    if (start != nullptr) try_order(*start);
    for (const Order& candidate : candidates_) {
      if (best_cost > 0) try_order(candidate);
    }
    // Threshold accepting (Dueck and Scheuer, 1990): slightly worse orders are accepted, within a margin that
    // shrinks.
    Order current = best;
    Heights current_heights = best_heights;
    double current_cost = best_cost;
    bool stale = true;  // position_ and tops_ belong to another order than `current`
    const std::size_t work = (edges_ + intervals_.size()) * active_.size();
    for (std::size_t round = 0; round < kMostMoves && best_cost > 0 && work_left_ >= work; ++round) {
      work_left_ -= work;
      std::size_t k = random_.below(active_.size());
      for (std::size_t step = 0; step < active_.size() && excess(std::min(current_heights[k], others[k]), k) == 0; ++step)
        k = (k + 1) % active_.size();
      if (std::exchange(stale, false)) heights(current);
      Order order = current;
      move_one(order, k);
      Heights own = heights(order);
      stale = true;
      const double c = cost(own, others), threshold = kThreshold * (1 - static_cast<double>(round) / kMostMoves);
      if (c > current_cost * (1 + threshold)) continue;
      current = std::move(order);
      current_heights = std::move(own);
      current_cost = c;
      stale = false;
      if (c < best_cost) best = current, best_heights = current_heights, best_cost = c;
    }
    return {std::move(best), std::move(best_heights)};
  }

  /// Makes chosen_ fit the active samples: improves its orders, and adds others while that is not enough.
  void choose() {
    const Heights nothing(active_.size(), std::numeric_limits<double>::infinity());
    std::vector<Heights> all;
    for (const Order& order : chosen_) all.push_back(heights(order));
    const auto lowest_without = [&](std::size_t left_out) {
      Heights lowest = nothing;
      for (std::size_t i = 0; i < all.size(); ++i) {
        for (std::size_t k = 0; k < lowest.size() && i != left_out; ++k) lowest[k] = std::min(lowest[k], all[i][k]);
      }
      return lowest;
    };
    const auto good_enough = [&] { return worst(lowest_without(all.size())) <= options_.tolerance; };
    while (true) {
      // Each order may leave to the others what they are better at.
      for (std::size_t i = 0; i < all.size() && !good_enough(); ++i) {
        auto [order, own] = find_order(lowest_without(i), &chosen_[i]);
        chosen_[i] = std::move(order);
        all[i] = std::move(own);
      }
      if (chosen_.size() >= options_.most || (!all.empty() && good_enough())) break;
      auto [order, own] = find_order(lowest_without(all.size()));
      chosen_.push_back(std::move(order));
      all.push_back(std::move(own));
    }
    for (std::size_t i = all.size(); i-- > 0 && all.size() > 1;) {
      if (worst(lowest_without(i)) > std::max(options_.tolerance, worst(lowest_without(all.size())))) continue;
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
      chosen_.erase(chosen_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  static constexpr std::size_t kMostMoves = 4'000;  // in a row
  static constexpr double kThreshold = 0.2;         // of the cost

  std::vector<Interval> intervals_;
  std::span<const std::vector<int64_t>> sizes_;
  const StackingOptions& options_;
  std::vector<std::vector<int>> conflicts_;
  std::size_t edges_ = 0;
  std::vector<std::pair<int, int>> events_;  ///< in the order of time; ends come before beginnings
  std::vector<int> position_, chain_;
  std::vector<char> is_active_;
  std::vector<std::size_t> active_;  ///< samples that orders are made for
  Heights target_;
  std::vector<Order> candidates_;
  std::size_t stride_ = 0;                 ///< the number of active samples, padded with samples of size 0
  std::vector<double> flat_sizes_, tops_;  ///< [buffer][active sample]
  std::vector<Order> chosen_;
  /// What moves may cost: each costs the pairs of buffers times the samples that it looks at. The default takes about
  /// a second.
  std::size_t work_left_ = 1'000'000'000;
  Random random_;
};

}  // namespace

std::vector<Stacking> stack_intervals(std::span<const Interval> intervals, std::span<const std::vector<int64_t>> sizes_per_sample,
                                      const StackingOptions& options) {
  return Search(intervals, sizes_per_sample, options).run();
}

}  // namespace onnxc
