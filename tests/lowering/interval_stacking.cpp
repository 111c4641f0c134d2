#include "compiler/lowering/memory/interval_stacking.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <set>

#include "compiler/lowering/memory/check_coloring.h"
#include "tests/lowering/random_intervals.h"

namespace onnxc {
namespace {

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
    const Stacking stacking = stack_intervals(intervals, samples, {.most = 1}).front();
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
    // Minimal: no predecessor lies below another predecessor through any chain.
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
  const std::vector<Stacking> stackings = stack_intervals(intervals, samples);
  CHECK(stackings.size() == 1);
  const Stacking& stacking = stackings.front();
  const Coloring coloring = color_intervals(intervals);
  CHECK(stacking.heights[0] <= coloring.height);
  CHECK(stacking.heights[2] <= 8 * coloring.height);
  CHECK(stack_intervals(intervals, {}).front().order.size() == 100);
  CHECK(stack_intervals({}, samples).front().order.empty());
}

}  // namespace
}  // namespace onnxc
