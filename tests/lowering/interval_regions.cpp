#include "compiler/lowering/memory/interval_regions.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

#include "compiler/lowering/memory/check_coloring.h"
#include "compiler/lowering/memory/region_choice.h"
#include "tests/lowering/random_intervals.h"

namespace onnxc {
namespace {

/// The most bytes of the taken intervals that live in one step.
int64_t peak_of(const std::vector<IntervalOffer>& offers, const std::vector<bool>& taken) {
  int64_t most = 0;
  for (const IntervalOffer& at : offers) {
    int64_t live = 0;
    for (std::size_t i = 0; i < offers.size(); ++i) {
      const Interval& other = offers[i].interval;
      if (taken[i] && other.first <= at.interval.first && at.interval.first < other.last) live += other.size;
    }
    most = std::max(most, live);
  }
  return most;
}

/// Of all choices, the one that is worth most.
double best_of_all(const std::vector<IntervalOffer>& intervals, const std::vector<ConstantOffer>& constants, int64_t capacity) {
  double best = 0;
  for (unsigned a = 0; a < 1u << intervals.size(); ++a) {
    std::vector<bool> taken(intervals.size());
    double value = 0;
    for (std::size_t i = 0; i < intervals.size(); ++i) {
      taken[i] = (a >> i & 1) != 0;
      value += taken[i] ? intervals[i].value : 0;
    }
    const int64_t room = capacity - peak_of(intervals, taken);
    for (unsigned k = 0; room >= 0 && k < 1u << constants.size(); ++k) {
      int64_t bytes = 0;
      double more = 0;
      for (std::size_t i = 0; i < constants.size(); ++i) {
        if ((k >> i & 1) == 0) continue;
        bytes += constants[i].bytes;
        more += constants[i].value;
      }
      if (bytes <= room) best = std::max(best, value + more);
    }
  }
  return best;
}

struct RandomOffers {
  std::vector<IntervalOffer> intervals;
  std::vector<ConstantOffer> constants;
};
RandomOffers random_offers(std::mt19937& random) {
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  RandomOffers offers;
  for (int i = 0, n = below(8); i < n; ++i) {
    const int first = below(6);
    offers.intervals.push_back({{8 * (1 + below(20)), first, first + 1 + below(4), 8}, 1.0 + below(50)});
  }
  for (int i = 0, n = below(6); i < n; ++i) offers.constants.push_back({8 * (1 + below(20)), 1.0 + below(50)});
  return offers;
}

TEST_CASE("a choice by hand: two buffers that take turns leave room for a constant") {
  const std::vector<IntervalOffer> intervals{{{60, 0, 2, 1}, 10}, {{50, 1, 3, 1}, 3}, {{60, 2, 4, 1}, 10}};
  const std::vector<ConstantOffer> constants{{40, 5}, {90, 14}};
  const RegionChoice choice = choose_for_region(intervals, constants, 110);
  CHECK(choice.intervals == std::vector<int>{0, 2});
  CHECK(choice.constants == std::vector<int>{0});
  CHECK(choice.interval_bytes == 60);
  CHECK(choice.constant_bytes == 40);
  CHECK(choice.value == 25);
  CHECK(choice.proved_best);
  CHECK(choose_for_region(intervals, {}, 59).intervals == std::vector<int>{1});
  CHECK(choose_for_region(intervals, constants, 59).constants == std::vector<int>{0});
  CHECK(choose_for_region(intervals, constants, 0).value == 0);
}

TEST_CASE("no choice is better than the one that is proved") {
  for (unsigned seed = 0; seed < 600; ++seed) {
    std::mt19937 random(seed);
    const auto [intervals, constants] = random_offers(random);
    const auto capacity = static_cast<int64_t>(random() % 400);
    const RegionChoice choice = choose_for_region(intervals, constants, capacity);
    INFO("seed " << seed);
    CHECK(choice.proved_best);
    CHECK(choice.value == best_of_all(intervals, constants, capacity));
    std::vector<bool> taken(intervals.size());
    double value = 0;
    int64_t bytes = 0;
    for (const int i : choice.intervals) taken[i] = true, value += intervals[i].value;
    for (const int i : choice.constants) bytes += constants[i].bytes, value += constants[i].value;
    CHECK(value == choice.value);
    CHECK(bytes == choice.constant_bytes);
    CHECK(peak_of(intervals, taken) == choice.interval_bytes);
    CHECK(choice.interval_bytes + bytes <= capacity);
  }
}

TEST_CASE("where everything lives at once a choice is found, though not proved") {
  std::mt19937 random(1);
  std::vector<IntervalOffer> intervals;
  for (int i = 0; i < 60; ++i)
    intervals.push_back({{8 * (1 + static_cast<int64_t>(random() % 50)), i % 3, 4, 8}, 1.0 + static_cast<double>(random() % 90)});
  const RegionChoice choice = choose_for_region(intervals, {}, 2'000);
  CHECK_FALSE(choice.proved_best);
  CHECK(choice.interval_bytes <= 2'000);
  // What takes them by value for each byte gets that much.
  std::vector<int> order(intervals.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, std::ranges::greater(),
                    [&](int i) { return intervals[i].value / static_cast<double>(intervals[i].interval.size); });
  double greedy = 0;
  for (int64_t bytes = 0; const int i : order) {
    if (bytes + intervals[i].interval.size > 2'000) continue;
    bytes += intervals[i].interval.size;
    greedy += intervals[i].value;
  }
  CHECK(choice.value >= greedy);
}

RegionProblem problem_of(std::vector<Interval> intervals, std::vector<double> accesses, std::vector<RegionProblem::Memory> memories) {
  if (accesses.empty()) accesses.assign(intervals.size(), 1);
  return {std::move(intervals), std::move(accesses), {}, {}, std::move(memories)};
}

/// What is wrong with a plan.
std::optional<std::string> error_of(const RegionProblem& problem, const RegionPlan& plan) {
  std::vector<int64_t> rooms;
  for (std::size_t r = 0; r < problem.memories.size(); ++r) rooms.push_back(problem.memories[r].capacity - plan.constant_bytes[r]);
  std::vector<Interval> placed;
  std::vector<int> regions;
  std::vector<int64_t> offsets;
  for (std::size_t i = 0; i < problem.intervals.size(); ++i) {
    if (plan.interval_regions[i] == RegionPlan::kNowhere) continue;
    if (!problem.memories[plan.interval_regions[i]].takes_intervals) return "an interval among constants";
    placed.push_back(problem.intervals[i]);
    regions.push_back(plan.interval_regions[i]);
    offsets.push_back(plan.offsets[i]);
  }
  std::vector<int64_t> constants(problem.memories.size(), 0);
  for (std::size_t i = 0; i < problem.constants.size(); ++i) {
    if (plan.constant_regions[i] == RegionPlan::kNowhere) continue;
    if (!problem.memories[plan.constant_regions[i]].takes_constants) return "a constant where none may be";
    constants[plan.constant_regions[i]] += problem.constants[i];
  }
  if (constants != plan.constant_bytes) return "the bytes of constants";
  if (auto error = find_region_error(placed, regions, offsets, plan.heights)) return error;
  return find_region_error(placed, regions, offsets, rooms);
}

TEST_CASE("one memory that is large enough is a coloring") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    const auto intervals = network_intervals(random, 60);
    const RegionPlan plan = spread_over_regions(problem_of(intervals, {}, {{1 << 30}}));
    CHECK(plan.complete());
    CHECK(plan.heights == std::vector<int64_t>{color_intervals(intervals).height});
  }
}

TEST_CASE("what is accessed most for its bytes and steps stays in the fast memory") {
  const std::vector<Interval> intervals{{100, 0, 4, 1}, {100, 0, 4, 1}, {50, 0, 4, 1}, {100, 4, 5, 1}};
  const RegionProblem problem = problem_of(intervals, {200, 800, 100, 1}, {{150}, {1'000}});
  const RegionPlan plan = spread_over_regions(problem);
  CHECK(plan.interval_regions == std::vector<int>{1, 0, 0, 0});
  CHECK(plan.heights == std::vector<int64_t>{150, 100});
  CHECK(error_of(problem, plan) == std::nullopt);
}

TEST_CASE("constants and buffers share a memory, and flash takes constants alone") {
  RegionProblem problem = problem_of({{64, 0, 2, 8}, {64, 1, 3, 8}, {128, 2, 4, 8}}, {10, 900, 20},
                                     {{128, true, true}, {256, true, false}, {512, false, true}});
  problem.constants = {64, 512, 8};
  problem.constant_accesses = {800, 600, 1};
  const RegionPlan plan = spread_over_regions(problem);
  CHECK(plan.interval_regions == std::vector<int>{1, 0, 1});
  CHECK(plan.constant_regions == std::vector<int>{0, 2, RegionPlan::kNowhere});
  CHECK(plan.constant_bytes == std::vector<int64_t>{64, 0, 512});
  CHECK(error_of(problem, plan) == std::nullopt);
}

TEST_CASE("in the last memory for buffers these precede constants") {
  RegionProblem problem = problem_of({{64, 0, 2, 8}}, {1}, {{64, true, true}, {64, false, true}});
  problem.constants = {64};
  problem.constant_accesses = {1'000};
  const RegionPlan plan = spread_over_regions(problem);
  CHECK(plan.interval_regions == std::vector<int>{0});
  CHECK(plan.constant_regions == std::vector<int>{1});
}

TEST_CASE("a large buffer gets the fast memory, if no other can hold it") {
  const std::vector<Interval> intervals{{100, 0, 2, 1}, {30, 0, 2, 1}, {30, 1, 3, 1}};
  const RegionPlan plan = spread_over_regions(problem_of(intervals, {1, 500, 500}, {{100}, {60}}));
  CHECK(plan.interval_regions == std::vector<int>{0, 1, 1});
}

TEST_CASE("what fits nowhere is said") {
  const std::vector<Interval> intervals{{100, 0, 2, 1}, {10, 1, 3, 1}, {0, 0, 9, 1}};
  const RegionPlan plan = spread_over_regions(problem_of(intervals, {}, {{8}, {64}}));
  CHECK(plan.interval_regions == std::vector<int>{RegionPlan::kNowhere, 1, 0});
  CHECK(!plan.complete());
  CHECK(spread_over_regions(problem_of(intervals, {}, {})).interval_regions == std::vector<int>(3, RegionPlan::kNowhere));
  CHECK(!spread_over_regions(problem_of({{8, 0, 1, 1}}, {}, {{1'000, false, true}})).complete());
}

/// The most accesses of buffers that a first memory of `fast` bytes can serve, with all others in a second one of `slow` bytes; -1 if no two of them do.
/// By trying every set and every coloring that the exact search finds.
double best_split(const std::vector<Interval>& intervals, const std::vector<double>& accesses, int64_t fast, int64_t slow) {
  double best = -1;
  for (unsigned set = 0; set < 1u << intervals.size(); ++set) {
    std::vector<Interval> in, out;
    double served = 0;
    for (std::size_t i = 0; i < intervals.size(); ++i) {
      ((set >> i & 1) != 0 ? in : out).push_back(intervals[i]);
      served += (set >> i & 1) != 0 ? accesses[i] : 0;
    }
    if (served > best && color_intervals(in).height <= fast && color_intervals(out).height <= slow) best = served;
  }
  return best;
}

TEST_CASE("two memories against every possible split") {
  int solvable = 0, solved = 0, best = 0;
  double served_share = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    std::vector<Interval> intervals;
    std::vector<double> accesses;
    for (unsigned i = 0, n = 2 + random() % 7; i < n; ++i) {
      const int first = static_cast<int>(random() % 6);
      intervals.push_back({8 * (1 + static_cast<int64_t>(random() % 16)), first, first + 1 + static_cast<int>(random() % 4), 8});
      accesses.push_back(1 + static_cast<double>(random() % 100));
    }
    const int64_t height = color_intervals(intervals).height;
    const auto fast = static_cast<int64_t>(random() % static_cast<unsigned>(height)), slow = height - fast / 2;
    const double most = best_split(intervals, accesses, fast, slow);
    const RegionProblem problem = problem_of(intervals, accesses, {{fast}, {slow}});
    const RegionPlan plan = spread_over_regions(problem);
    INFO("seed " << seed);
    CHECK(error_of(problem, plan) == std::nullopt);
    if (most < 0) {
      CHECK(!plan.complete());
      continue;
    }
    ++solvable;
    if (!plan.complete()) continue;
    ++solved;
    double served = 0;
    for (std::size_t i = 0; i < intervals.size(); ++i) served += plan.interval_regions[i] == 0 ? accesses[i] : 0;
    CHECK(served <= most);
    best += served == most;
    served_share += most > 0 ? served / most : 1;
  }
  CHECK(solvable > 150);
  CHECK(solved == solvable);
  CHECK(best >= solvable * 95 / 100);
  CHECK(served_share >= 0.98 * solved);
}

TEST_CASE("random intervals and constants over three memories: valid, and the same each time") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    RegionProblem problem = problem_of(
        random_intervals(random, static_cast<int>(random() % 40), 1 + static_cast<int>(random() % 30), 1 + static_cast<int>(random() % 15)),
        {}, {{static_cast<int64_t>(random() % 10'000)}, {static_cast<int64_t>(random() % 40'000), true, random() % 2 == 0}, {1 << 30}});
    for (double& accesses : problem.interval_accesses) accesses = static_cast<double>(random() % 1000);
    for (unsigned i = 0, n = random() % 10; i < n; ++i) {
      problem.constants.push_back(static_cast<int64_t>(random() % 4'000));
      problem.constant_accesses.push_back(static_cast<double>(random() % 1000));
    }
    const RegionPlan plan = spread_over_regions(problem, {.effort = 1'000});
    INFO("seed " << seed);
    CHECK(plan.complete());
    CHECK(error_of(problem, plan) == std::nullopt);
    const RegionPlan again = spread_over_regions(problem, {.effort = 1'000});
    CHECK(plan.interval_regions == again.interval_regions);
    CHECK(plan.constant_regions == again.constant_regions);
  }
}

}  // namespace
}  // namespace onnxc
