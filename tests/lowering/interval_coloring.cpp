#include "compiler/lowering/interval_coloring.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <set>
#include <sstream>

#include "compiler/lowering/check_coloring.h"

namespace onnxc {
namespace {

int64_t most_live_bytes(const std::vector<Interval>& intervals) {
  int64_t most = 0;
  for (const Interval& at : intervals) {
    int64_t live = 0;
    for (const Interval& i : intervals) live += i.first <= at.first && at.first < i.last ? i.size : 0;
    most = std::max(most, live);
  }
  return most;
}

std::vector<Interval> random_intervals(std::mt19937& random, int count, int steps, int longest) {
  std::vector<Interval> intervals;
  for (int i = 0; i < count; ++i) {
    const int first = static_cast<int>(random() % static_cast<unsigned>(steps));
    const int last = first + 1 + static_cast<int>(random() % static_cast<unsigned>(longest));
    const int64_t alignment = int64_t{1} << (random() % 8);
    intervals.push_back({static_cast<int64_t>(random() % 5000), first, last, alignment});
  }
  return intervals;
}

/// A chain of layers with a skip connection now and then: what networks look like.
std::vector<Interval> network_intervals(std::mt19937& random, int count) {
  std::vector<Interval> intervals;
  for (int i = 0; i < count; ++i) {
    const int life = random() % 5 == 0 ? 2 + static_cast<int>(random() % 6) : 2;
    intervals.push_back({64 * (1 + static_cast<int64_t>(random() % 2000)), i, i + life, 64});
  }
  return intervals;
}

TEST_CASE("a coloring of random intervals is valid and not below the bound") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto intervals =
        random_intervals(random, static_cast<int>(random() % 80), 1 + static_cast<int>(random() % 60), 1 + static_cast<int>(random() % 30));
    const Coloring coloring = color_intervals(intervals);
    INFO("seed " << seed);
    CHECK(find_coloring_error(intervals, coloring.offsets, coloring.height) == std::nullopt);
    CHECK(coloring.height >= coloring.lower_bound);
    CHECK(coloring.lower_bound >= most_live_bytes(intervals));
    CHECK(coloring.offsets == color_intervals(intervals).offsets);
  }
}

TEST_CASE("easy shapes meet the bound") {
  const auto height_is_bound = [](std::vector<Interval> intervals, int64_t expected) {
    const Coloring coloring = color_intervals(intervals);
    CHECK(find_coloring_error(intervals, coloring.offsets, coloring.height) == std::nullopt);
    CHECK(coloring.height == expected);
    CHECK(coloring.lower_bound == expected);
  };
  height_is_bound({}, 0);
  height_is_bound({{100, 3, 3, 64}, {0, 0, 9, 64}}, 0);
  height_is_bound({{100, 0, 1, 64}}, 128);
  height_is_bound({{100, 0, 2, 1}, {50, 1, 3, 1}, {100, 2, 4, 1}}, 150);
  height_is_bound({{4, 0, 2, 64}, {4, 0, 2, 4}}, 8);
  height_is_bound({{10, -5, -3, 1}, {20, -3, 0, 1}, {5, -4, 7, 1}}, 25);
}

TEST_CASE("chains with skip connections meet the bound nearly always") {
  int met = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    const auto intervals = network_intervals(random, 150);
    const Coloring coloring = color_intervals(intervals);
    CHECK(find_coloring_error(intervals, coloring.offsets, coloring.height) == std::nullopt);
    CHECK(static_cast<double>(coloring.height) <= 1.1 * static_cast<double>(coloring.lower_bound));
    met += coloring.height == coloring.lower_bound;
  }
  CHECK(met >= 45);
}

TEST_CASE("five thousand intervals") {
  std::mt19937 random(7);
  for (const auto& intervals :
       {random_intervals(random, 5000, 5000, 40), random_intervals(random, 5000, 1000, 900), network_intervals(random, 5000)}) {
    const Coloring coloring = color_intervals(intervals);
    CHECK(find_coloring_error(intervals, coloring.offsets, coloring.height) == std::nullopt);
    CHECK(coloring.lower_bound == most_live_bytes(intervals));
    CHECK(coloring.height <= 2 * coloring.lower_bound);
  }
}

TEST_CASE("the judge sees each kind of mistake") {
  const std::vector<Interval> intervals{{10, 0, 2, 1}, {10, 1, 3, 4}, {10, 2, 4, 1}};
  const auto error = [&](std::vector<int64_t> offsets, int64_t height) {
    return find_coloring_error(intervals, offsets, height).value_or("");
  };
  CHECK(error({0, 12, 0}, 22).empty());
  CHECK(error({0, 12}, 22) == "2 offsets for 3 intervals");
  CHECK(error({0, 10, 0}, 22) == "interval 1 has offset 10, which is not a multiple of 4");
  CHECK(error({0, 12, 0}, 21) == "interval 1 ends at 12 + 10, above the height 21");
  CHECK(error({-1, 12, 0}, 22) == "interval 0 has offset -1");
  CHECK(error({0, 8, 20}, 30) == "intervals 0 (bytes [0, 10)) and 1 (bytes [8, 18)) overlap in step 1");
  CHECK(error({20, 8, 17}, 30) == "intervals 1 (bytes [8, 18)) and 2 (bytes [17, 27)) overlap in step 2");
  CHECK(error({0, 16, 8}, 30) == "intervals 1 (bytes [16, 26)) and 2 (bytes [8, 18)) overlap in step 2");
}

TEST_CASE("the judge agrees with comparing all pairs") {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    auto intervals = random_intervals(random, 6, 10, 4);
    std::vector<int64_t> offsets;
    for (Interval& i : intervals) offsets.push_back(static_cast<int64_t>(random() % 20000)), i.alignment = 1;
    bool overlap = false;
    for (std::size_t a = 0; a < 6; ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        overlap |= intervals[a].size > 0 && intervals[b].size > 0 && intervals[a].first < intervals[b].last &&
                   intervals[b].first < intervals[a].last && offsets[a] < offsets[b] + intervals[b].size &&
                   offsets[b] < offsets[a] + intervals[a].size;
      }
    }
    CHECK(find_coloring_error(intervals, offsets, 30000).has_value() == overlap);
  }
}

/// Offsets as the emitted code computes them.
std::vector<int64_t> evaluate(const Stacking& stacking, const std::vector<int64_t>& sizes) {
  std::vector<int64_t> offsets(sizes.size(), -1);
  for (int b : stacking.order) {
    offsets[b] = 0;
    for (int c : stacking.below[b]) {
      REQUIRE(offsets[c] >= 0);
      offsets[b] = std::max(offsets[b], offsets[c] + sizes[c]);
    }
  }
  return offsets;
}

TEST_CASE("a stacking is valid for sizes it has never seen") {
  for (unsigned seed = 0; seed < 120; ++seed) {
    std::mt19937 random(seed);
    const std::size_t count = 1 + random() % 40;
    const auto intervals = random_intervals(random, static_cast<int>(count), 30, 8);
    const auto sizes = [&] {
      std::vector<int64_t> result;
      for (std::size_t i = 0; i < count; ++i) result.push_back(64 * static_cast<int64_t>(random() % 100));
      return result;
    };
    const std::vector<std::vector<int64_t>> samples{sizes(), sizes()};
    const Stacking stacking = stack_intervals(intervals, samples);
    REQUIRE(stacking.heights.size() == 2);
    for (int trial = 0; trial < 6; ++trial) {
      const std::vector<int64_t> tried = trial < 2 ? samples[static_cast<std::size_t>(trial)] : sizes();
      const auto offsets = evaluate(stacking, tried);
      auto sized = intervals;
      int64_t height = 0;
      for (std::size_t i = 0; i < count; ++i)
        sized[i].size = tried[i], sized[i].alignment = 64, height = std::max(height, offsets[i] + tried[i]);
      INFO("seed " << seed << " trial " << trial);
      CHECK(find_coloring_error(sized, offsets, height) == std::nullopt);
      if (trial < 2) CHECK(height == stacking.heights[static_cast<std::size_t>(trial)]);
    }
    // Minimal: no predecessor lies below another one through any chain.
    for (std::size_t b = 0; b < count; ++b) {
      for (int c : stacking.below[b]) {
        std::vector<int> todo = stacking.below[static_cast<std::size_t>(c)];
        std::set<int> reached;
        while (!todo.empty()) {
          const int d = todo.back();
          todo.pop_back();
          if (!reached.insert(d).second) continue;
          todo.insert(todo.end(), stacking.below[static_cast<std::size_t>(d)].begin(), stacking.below[static_cast<std::size_t>(d)].end());
        }
        for (int other : stacking.below[b]) CHECK(reached.count(other) == 0);
      }
    }
  }
}

TEST_CASE("proportional sizes stack to the bound where a coloring does") {
  std::mt19937 random(3);
  const auto intervals = network_intervals(random, 100);
  std::vector<std::vector<int64_t>> samples;
  for (int64_t factor : {1, 3, 8}) {
    samples.emplace_back();
    for (const Interval& i : intervals) samples.back().push_back(i.size * factor);
  }
  const Stacking stacking = stack_intervals(intervals, samples);
  const Coloring coloring = color_intervals(intervals);
  CHECK(stacking.heights[0] <= coloring.height);
  CHECK(stacking.heights[2] <= 8 * coloring.height);
  CHECK(stack_intervals(intervals, {}).order.size() == 100);
  CHECK(stack_intervals({}, samples).order.empty());
}

TEST_CASE("MiniMalloc's challenging cases") {
  const char* folder = std::getenv("ONNXC_MINIMALLOC");
  if (folder == nullptr || !std::filesystem::exists(folder)) {
    std::cout << "skipped: set ONNXC_MINIMALLOC to a folder with MiniMalloc's benchmarks/challenging/*.csv\n";
    return;
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".csv") continue;
    std::ifstream file(entry.path());
    std::string line;
    std::getline(file, line);
    std::vector<Interval> intervals;
    while (std::getline(file, line)) {
      std::replace(line.begin(), line.end(), ',', ' ');
      std::istringstream fields(line);
      std::string id;
      Interval interval{0, 0, 0, 1};
      fields >> id >> interval.first >> interval.last >> interval.size;
      intervals.push_back(interval);
    }
    const Coloring coloring = color_intervals(intervals);
    CHECK(find_coloring_error(intervals, coloring.offsets, coloring.height) == std::nullopt);
    CHECK(coloring.lower_bound == most_live_bytes(intervals));
    std::cout << entry.path().stem().string() << ": " << intervals.size() << " intervals, height / bound "
              << static_cast<double>(coloring.height) / static_cast<double>(coloring.lower_bound) << '\n';
  }
}

}  // namespace
}  // namespace onnxc
