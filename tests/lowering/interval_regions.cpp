#include "compiler/lowering/interval_regions.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

#include "compiler/lowering/check_coloring.h"
#include "tests/lowering/random_intervals.h"

namespace onnxc {
namespace {

TEST_CASE("one unbounded region is a coloring") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    const auto intervals = network_intervals(random, 60);
    const RegionColoring regions = color_regions(intervals, {}, std::vector<int64_t>{kUnbounded});
    CHECK(regions.complete());
    CHECK(regions.heights == std::vector<int64_t>{color_intervals(intervals).height});
  }
}

TEST_CASE("what is accessed most for its bytes and steps stays in the fast region") {
  const std::vector<Interval> intervals{{100, 0, 4, 1}, {100, 0, 4, 1}, {50, 0, 4, 1}, {100, 4, 5, 1}};
  const std::vector<int64_t> accesses{200, 800, 100, 1};
  const RegionColoring regions = color_regions(intervals, accesses, std::vector<int64_t>{150, kUnbounded});
  CHECK(regions.region == std::vector<int>{1, 0, 0, 0});
  CHECK(regions.heights == std::vector<int64_t>{150, 100});
  CHECK(find_region_error(intervals, regions.region, regions.offsets, std::vector<int64_t>{150, kUnbounded}) == std::nullopt);
}

TEST_CASE("what fits nowhere is said") {
  const std::vector<Interval> intervals{{100, 0, 2, 1}, {10, 1, 3, 1}, {0, 0, 9, 1}};
  const RegionColoring regions = color_regions(intervals, {}, std::vector<int64_t>{8, 64});
  CHECK(regions.region == std::vector<int>{RegionColoring::kNowhere, 1, 0});
  CHECK(!regions.complete());
  CHECK(color_regions(intervals, {}, {}).region == std::vector<int>(3, RegionColoring::kNowhere));
}

TEST_CASE("random intervals over three regions: valid, within the capacities, complete where the last has none") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto intervals =
        random_intervals(random, static_cast<int>(random() % 40), 1 + static_cast<int>(random() % 30), 1 + static_cast<int>(random() % 15));
    std::vector<int64_t> accesses;
    for (std::size_t i = 0; i < intervals.size(); ++i) accesses.push_back(static_cast<int64_t>(random() % 1000));
    const std::vector<int64_t> capacities{static_cast<int64_t>(random() % 10'000), static_cast<int64_t>(random() % 40'000), kUnbounded};
    const RegionColoring regions = color_regions(intervals, accesses, capacities, {.effort = 1'000});
    INFO("seed " << seed);
    CHECK(regions.complete());
    CHECK(find_region_error(intervals, regions.region, regions.offsets, capacities) == std::nullopt);
    for (std::size_t r = 0; r < 3; ++r) CHECK(regions.heights[r] <= capacities[r]);
    CHECK(regions.region == color_regions(intervals, accesses, capacities, {.effort = 1'000}).region);
  }
}

}  // namespace
}  // namespace onnxc
