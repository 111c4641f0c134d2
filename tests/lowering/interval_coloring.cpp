#include "compiler/lowering/memory/interval_coloring.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "compiler/lowering/memory/check_coloring.h"
#include "tests/lowering/random_intervals.h"

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

/// The lowest possible height. Tries every order, and places each interval on top of the highest one before it.
int64_t lowest_height(const std::vector<Interval>& intervals) {
  std::vector<int> order(intervals.size());
  std::iota(order.begin(), order.end(), 0);
  int64_t lowest = std::numeric_limits<int64_t>::max();
  do {
    std::vector<int64_t> tops(intervals.size());
    int64_t height = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      const Interval& i = intervals[order[k]];
      if (i.size == 0 || i.first >= i.last) continue;
      int64_t offset = 0;
      for (std::size_t l = 0; l < k; ++l) {
        const Interval& other = intervals[order[l]];
        if (other.first < i.last && i.first < other.last) offset = std::max(offset, tops[order[l]]);
      }
      tops[order[k]] = (offset + i.alignment - 1) / i.alignment * i.alignment + i.size;
      height = std::max(height, tops[order[k]]);
    }
    lowest = std::min(lowest, height);
  } while (std::ranges::next_permutation(order).found);
  return lowest;
}

TEST_CASE("the search finds what comparing all orders finds") {
  int searched = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    const int count = 2 + static_cast<int>(random() % 6);
    auto intervals = random_intervals(random, count, 6, 4);
    const bool alike = seed % 3 == 0;  // equal buffers and ties
    for (Interval& i : intervals) {
      if (alike) i.size = 1 + i.size % 4;
      i.alignment = seed % 2 == 0 ? 1 : std::min<int64_t>(i.alignment, 8);
    }
    const Coloring coloring = color_intervals(intervals);
    INFO("seed " << seed);
    // Heights are multiples of the smallest alignment. Ends of intervals need not be.
    int64_t grain = 8;
    for (const Interval& i : intervals) grain = i.size > 0 ? std::min(grain, i.alignment) : grain;
    CHECK(coloring.height == (lowest_height(intervals) + grain - 1) / grain * grain);
    CHECK(coloring.proved_optimal());
    searched += coloring.lower_bound > (most_live_bytes(intervals) + grain - 1) / grain * grain;
  }
  CHECK(searched > 10);  // the bound was not always met
}

TEST_CASE("ten thousand random colorings are valid, between the bound and the greedy ones") {
  for (unsigned seed = 0; seed < 10'000; ++seed) {
    std::mt19937 random(seed);
    auto intervals =
        random_intervals(random, static_cast<int>(random() % 18), 1 + static_cast<int>(random() % 30), 1 + static_cast<int>(random() % 12));
    if (seed % 2 == 0) std::ranges::for_each(intervals, [](Interval& i) { i.alignment = 1; });
    const Coloring coloring = color_intervals(intervals, {.effort = 5'000});
    const auto error = find_coloring_error(intervals, coloring.offsets, coloring.height);
    INFO("seed " << seed << ' ' << error.value_or("") << ' ' << coloring.height << ' ' << coloring.lower_bound);
    if (error || coloring.height < coloring.lower_bound || coloring.lower_bound < most_live_bytes(intervals)) FAIL_CHECK();
    if (seed % 20 == 0) CHECK(coloring.height <= color_intervals(intervals, {.effort = 0}).height);
  }
}

TEST_CASE("the search solves what greedy orders miss") {
  int better = 0, proved = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    auto intervals = random_intervals(random, 40, 30, 12);
    for (Interval& i : intervals) i.alignment = 1;
    const Coloring greedy = color_intervals(intervals, {.effort = 0}), coloring = color_intervals(intervals, {.effort = 300'000});
    better += coloring.height < greedy.height;
    proved += coloring.proved_optimal();
  }
  CHECK(better > 0);
  CHECK(proved >= 15);
}

TEST_CASE("a height that is good enough is not improved") {
  const std::vector<Interval> intervals{{4, 0, 2, 1}, {4, 1, 3, 1}, {4, 2, 4, 1}};
  CHECK(color_intervals(intervals, {.good_enough = 100}).height <= 12);
  CHECK(color_intervals(intervals, {.good_enough = 100}).lower_bound == 8);
}

TEST_CASE("a coloring of random intervals is valid and not below the bound") {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    const auto intervals =
        random_intervals(random, static_cast<int>(random() % 80), 1 + static_cast<int>(random() % 60), 1 + static_cast<int>(random() % 30));
    const Coloring coloring = color_intervals(intervals, {.effort = 30'000});
    INFO("seed " << seed);
    CHECK(find_coloring_error(intervals, coloring.offsets, coloring.height) == std::nullopt);
    CHECK(coloring.height >= coloring.lower_bound);
    CHECK(coloring.lower_bound >= most_live_bytes(intervals));
    CHECK(coloring.offsets == color_intervals(intervals, {.effort = 30'000}).offsets);
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

TEST_CASE("the judge of regions sees each kind of mistake") {
  const std::vector<Interval> intervals{{10, 0, 2, 1}, {10, 1, 3, 4}, {10, 2, 4, 1}};
  const auto error = [&](std::vector<int> regions, std::vector<int64_t> offsets) {
    return find_region_error(intervals, regions, offsets, std::vector<int64_t>{10, 22}).value_or("");
  };
  CHECK(error({0, 1, 0}, {0, 0, 0}).empty());
  CHECK(error({0, 1}, {0, 0, 0}) == "2 regions for 3 intervals");
  CHECK(error({0, 1, 0}, {0, 0}) == "2 offsets for 3 intervals");
  CHECK(error({0, 2, 0}, {0, 0, 0}) == "interval 1 is in region 2");
  CHECK(error({0, 1, -1}, {0, 0, 0}) == "interval 2 is in region -1");
  CHECK(error({0, 0, 0}, {0, 0, 0}) == "region 0: intervals 0 (bytes [0, 10)) and 1 (bytes [0, 10)) overlap in step 1");
  CHECK(error({0, 1, 0}, {0, 16, 0}) == "region 1: interval 1 ends at 16 + 10, above the height 22");
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

}  // namespace
}  // namespace onnxc
