// Constants and intervals meet in one number only, the bytes x that the intervals may take together:
//
//   best = max over x of  A(x) + K(capacity - x)
//
// - K is a knapsack of constants, solved for all capacities at once.
// - A(x) is a walk along the steps. Its state is the set of chosen intervals that are live, of which networks have few; equal sets keep the way that is
//   worth most. Where there are too many states the best of them go on, the result is no longer proved, and what takes intervals by their value for each byte
//   may be better.
// - Both only grow, so A(hi) + K(capacity - lo) bounds everything between two values of x, and halving the ranges whose bound is above the best known
//   ends with the optimum after a few walks. A walk tells the bytes p <= x that it needs: A is the same from p to x.
//
// With intervals of 60 [0, 2), 50 [1, 3), 60 [2, 4) and a constant of 40 in 110 bytes: A(110) takes all three and leaves no room; A(60) takes the first and the
// last, and the constant fits beside them.
#include "compiler/lowering/memory/region_choice.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace onnxc {
namespace {

constexpr std::size_t kMostStates = 512, kMostUnits = std::size_t{1} << 14;
constexpr int kMostWalks = 48;

/// The constants, in units of bytes.
class Knapsack {
 public:
  Knapsack(std::span<const ConstantOffer> offers, int64_t capacity, int64_t grain) : offers_(offers) {
    unit_ = grain;
    while (capacity / unit_ > static_cast<int64_t>(kMostUnits)) unit_ *= 2;
    exact_ = unit_ == grain;
    const auto units = static_cast<std::size_t>(capacity / unit_);
    best_.assign(units + 1, 0);
    for (std::size_t i = 0; i < offers.size(); ++i) {
      std::vector<bool>& takes = takes_.emplace_back(units + 1, false);
      const std::size_t size = units_of(i);
      for (std::size_t c = units + 1; c-- > size;) {
        const double value = best_[c - size] + offers[i].value;
        if (value > best_[c]) best_[c] = value, takes[c] = true;
      }
    }
  }

  double value(int64_t bytes) const { return best_[at(bytes)]; }
  std::vector<int> taken(int64_t bytes) const {
    std::vector<int> list;
    std::size_t c = at(bytes);
    for (std::size_t i = offers_.size(); i-- > 0;) {
      if (!takes_[i][c]) continue;
      list.push_back(static_cast<int>(i));
      c -= units_of(i);
    }
    std::ranges::reverse(list);
    return list;
  }
  bool exact() const { return exact_; }

 private:
  std::size_t units_of(std::size_t i) const { return static_cast<std::size_t>((offers_[i].bytes + unit_ - 1) / unit_); }
  std::size_t at(int64_t bytes) const { return std::min(static_cast<std::size_t>(std::max<int64_t>(bytes, 0) / unit_), best_.size() - 1); }

  std::span<const ConstantOffer> offers_;
  int64_t unit_ = 1;
  bool exact_ = true;
  std::vector<double> best_;              // by units of capacity
  std::vector<std::vector<bool>> takes_;  // by offer and units: whether it is in the best of the offers up to it
};

struct StepWalk {
  std::vector<int> taken;
  int64_t peak = 0;  // the most live bytes
  double value = 0;
  bool exact = true;
};

/// The best intervals whose live bytes never exceed `capacity`.
StepWalk walk_steps(std::span<const IntervalOffer> offers, int64_t capacity) {
  struct Taken {  // a list that states share
    int who, before;
  };
  struct State {
    double value;
    int64_t live;  // bytes
    int64_t peak;
    int taken;
  };
  std::vector<int> order(offers.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int i) { return offers[i].interval.first; });
  StepWalk result;
  std::vector<Taken> lists;
  std::map<std::vector<int>, State> states{{{}, {0, 0, 0, -1}}};  // by the intervals that are taken and live
  for (const int i : order) {
    const Interval& interval = offers[i].interval;
    std::map<std::vector<int>, State> next;
    const auto keep = [&](std::vector<int> live, const State& state) {
      const auto [known, fresh] = next.try_emplace(std::move(live), state);
      const State& other = known->second;
      if (!fresh && (state.value > other.value || (state.value == other.value && state.peak < other.peak))) known->second = state;
    };
    for (const auto& [before, state] : states) {
      std::vector<int> live;
      State without = state;
      for (const int j : before) {
        if (offers[j].interval.last > interval.first) live.push_back(j);
        else without.live -= offers[j].interval.size;
      }
      keep(live, without);
      const int64_t bytes = without.live + interval.size;
      if (bytes > capacity) continue;
      lists.push_back({i, without.taken});
      live.push_back(i);
      keep(std::move(live), {without.value + offers[i].value, bytes, std::max(without.peak, bytes), static_cast<int>(lists.size()) - 1});
    }
    if (next.size() > kMostStates) {
      std::vector<double> values;
      for (const auto& [live, state] : next) values.push_back(state.value);
      std::ranges::nth_element(values, values.begin() + kMostStates, std::ranges::greater());
      std::erase_if(next, [&](const auto& entry) { return entry.second.value < values[kMostStates]; });
      while (next.size() > 2 * kMostStates) next.erase(std::prev(next.end()));  // many of equal value
      result.exact = false;
    }
    states = std::move(next);
  }
  const auto better = [](const auto& a, const auto& b) {
    return std::pair(a.second.value, -a.second.peak) < std::pair(b.second.value, -b.second.peak);
  };
  const State& best = std::ranges::max_element(states, better)->second;
  result.value = best.value;
  result.peak = best.peak;
  for (int at = best.taken; at >= 0; at = lists[at].before) result.taken.push_back(lists[at].who);
  std::ranges::sort(result.taken);
  return result;
}

/// Takes intervals by their value for each byte, or for each byte and step, as long as they fit.
StepWalk walk_by_density(std::span<const IntervalOffer> offers, int64_t capacity, bool steps_count) {
  std::vector<int> order(offers.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater(), [&](int i) {
    const Interval& interval = offers[i].interval;
    return offers[i].value / (static_cast<double>(interval.size) * (steps_count ? interval.last - interval.first : 1));
  });
  int end = 0;
  for (const IntervalOffer& offer : offers) end = std::max(end, offer.interval.last);
  std::vector<int64_t> live(static_cast<std::size_t>(end), 0);  // bytes, by step
  StepWalk result;
  result.exact = false;
  for (const int i : order) {
    const Interval& interval = offers[i].interval;
    const std::span<int64_t> steps = std::span(live).subspan(interval.first, interval.last - interval.first);
    const int64_t bytes = std::ranges::max(steps) + interval.size;
    if (bytes > capacity) continue;
    for (int64_t& step : steps) step += interval.size;
    result.taken.push_back(i);
    result.peak = std::max(result.peak, bytes);
    result.value += offers[i].value;
  }
  std::ranges::sort(result.taken);
  return result;
}

/// The best split of the capacity.
class ChoiceSearch {
 public:
  ChoiceSearch(std::span<const IntervalOffer> intervals, std::span<const ConstantOffer> constants, int64_t capacity, int64_t grain)
      : intervals_(intervals), constants_(constants), capacity_(capacity), grain_(grain), knapsack_(constants, capacity, grain) {}

  RegionChoice run() {
    take(StepWalk{});
    const StepWalk all = walk(capacity_);
    std::vector<Range> ranges;
    if (all.peak > grain_) ranges.push_back({0, all.peak, all.value});
    while (!ranges.empty() && walks_ < kMostWalks) {
      const auto widest = std::ranges::max_element(ranges, {}, [&](const Range& r) { return bound(r); });
      const Range range = *widest;
      ranges.erase(widest);
      if (bound(range) <= best_.value) break;
      const int64_t middle = (range.low + (range.high - range.low) / 2) / grain_ * grain_;
      const StepWalk half = walk(middle);
      for (const Range& part : {Range{range.low, half.peak, half.value}, Range{middle, range.high, range.value}}) {
        if (part.high - part.low > grain_ && bound(part) > best_.value) ranges.push_back(part);
      }
    }
    const bool searched = std::ranges::all_of(ranges, [&](const Range& r) { return bound(r) <= best_.value; });
    best_.proved_best = searched && exact_ && knapsack_.exact();
    return std::move(best_);
  }

 private:
  /// Bytes for the intervals, between both ends, and their value at the upper end.
  struct Range {
    int64_t low, high;
    double value;
  };
  double bound(const Range& range) const { return range.value + knapsack_.value(capacity_ - range.low - grain_); }

  StepWalk walk(int64_t bytes) {
    ++walks_;
    StepWalk result = walk_steps(intervals_, bytes);
    for (const bool steps_count : {true, false}) {
      if (result.exact) break;
      StepWalk other = walk_by_density(intervals_, bytes, steps_count);
      if (other.value > result.value) result = std::move(other);
    }
    exact_ = exact_ && result.exact;
    take(result);
    return result;
  }

  void take(const StepWalk& walk) {
    const double value = walk.value + knapsack_.value(capacity_ - walk.peak);
    if (value <= best_.value) return;
    best_ = {.intervals = walk.taken, .constants = knapsack_.taken(capacity_ - walk.peak), .interval_bytes = walk.peak, .value = value};
    for (const int i : best_.constants) best_.constant_bytes += constants_[i].bytes;
  }

  std::span<const IntervalOffer> intervals_;
  std::span<const ConstantOffer> constants_;
  int64_t capacity_, grain_;
  Knapsack knapsack_;
  RegionChoice best_;
  int walks_ = 0;
  bool exact_ = true;
};

}  // namespace

RegionChoice choose_for_region(std::span<const IntervalOffer> intervals, std::span<const ConstantOffer> constants, int64_t capacity) {
  int64_t grain = 0;
  for (const IntervalOffer& offer : intervals) grain = std::gcd(grain, offer.interval.size);
  for (const ConstantOffer& offer : constants) grain = std::gcd(grain, offer.bytes);
  return ChoiceSearch(intervals, constants, std::max<int64_t>(capacity, 0), std::max<int64_t>(grain, 1)).run();
}

}  // namespace onnxc
