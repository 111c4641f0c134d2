#include "compiler/lowering/threads/align_shares_search.h"

#include <catch2/catch.hpp>

#include <random>

#include "compiler/lowering/memory/check_coloring.h"

namespace onnxc {
namespace {

constexpr int64_t kLine = 64;

/// An interval of `count` lines.
Interval lines(int64_t count, int first, int last) { return {count * kLine, first, last, kLine}; }

/// Offsets and result are in lines.
int64_t foreign_lines(const std::vector<Interval>& intervals, const std::vector<Sharing>& sharing, std::vector<int64_t> offsets) {
  for (int64_t& offset : offsets) offset *= kLine;
  return foreign_bytes(intervals, sharing, offsets) / kLine;
}

TEST_CASE("foreign bytes: what a thread writes where another wrote, runs following one another") {
  const std::vector<Interval> two = {lines(4, 0, 2), lines(2, 2, 4)};
  const std::vector<Sharing> halves(2, {2});
  // The upper half of the small one lies in thread 0's half of the large one. In the next run it is the other way
  // round.
  CHECK(foreign_lines(two, halves, {0, 0}) == 1 + 1);
  CHECK(foreign_lines(two, halves, {0, 1}) == 0);
  CHECK(foreign_lines(two, halves, {0, 2}) == 1 + 1);
  CHECK(foreign_lines(two, halves, {0, 4}) == 0);  // where nobody else writes
  CHECK(foreign_lines(two, {{2}, {1}}, {0, 1}) == 1 + 1);
  CHECK(foreign_lines(two, {{1}, {1}}, {0, 1}) == 0);
}

TEST_CASE("foreign bytes: of each interval those of the thread that fetches most") {
  const std::vector<Interval> two = {lines(6, 0, 2), lines(6, 2, 4)};
  // Thirds overlay halves. The middle third counts for thread 0 or 1, and thread 1 wrote its upper line before.
  // Thread 1 also wrote the last third.
  CHECK(foreign_lines(two, {{2}, {3}}, {0, 0}) == 2 + 2);
  CHECK(foreign_lines(two, {{6}, {1}}, {0, 0}) == 5 + 1);
}

TEST_CASE("foreign bytes: what one thread gathers belongs to none of the others") {
  const std::vector<Interval> two = {lines(4, 0, 2), lines(4, 2, 4)};
  CHECK(foreign_lines(two, {{2, true}, {2}}, {0, 0}) == 2 + 0);
  CHECK(foreign_lines(two, {{1, true}, {1}}, {0, 0}) == 0);
}

TEST_CASE("foreign bytes: the last who wrote a byte counts, not those before") {
  const std::vector<Interval> three = {lines(4, 0, 1), lines(2, 1, 2), lines(4, 2, 3)};
  CHECK(foreign_lines(three, std::vector<Sharing>(3, {2}), {0, 0, 0}) == 1 + 1 + 0);
}

TEST_CASE("shares are aligned: what is smaller goes to the middle") {
  const std::vector<Interval> chain = {lines(8, 0, 2), lines(8, 1, 3), lines(4, 2, 4), lines(4, 3, 5), lines(2, 4, 6)};
  const std::vector<Sharing> halves(chain.size(), {2});
  const std::vector<int64_t> lowest = {0, 8 * kLine, 0, 4 * kLine, 0};
  REQUIRE(!find_coloring_error(chain, lowest, 16 * kLine));
  CHECK(foreign_bytes(chain, halves, lowest) > 0);
  const std::vector<int64_t> aligned = align_shares(chain, halves, lowest, 16 * kLine);
  CHECK(!find_coloring_error(chain, aligned, 16 * kLine));
  CHECK(foreign_bytes(chain, halves, aligned) == 0);
}

TEST_CASE("shares are aligned: a plan stays valid, as low as it was, and gets no worse") {
  std::mt19937 random(1);
  int better = 0;
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<Interval> intervals;
    std::vector<Sharing> sharing;
    const int count = 2 + static_cast<int>(random() % 30);
    for (int i = 0; i < count; ++i) {
      const int first = static_cast<int>(random() % 20);
      intervals.push_back(
          lines(static_cast<int64_t>(random() % 40), first, first + static_cast<int>(random() % 4)));  // some empty, some never live
      sharing.push_back({1 + static_cast<int>(random() % 4), random() % 4 == 0});
    }
    const Coloring coloring = color_intervals(intervals);
    const std::vector<int64_t> aligned = align_shares(intervals, sharing, coloring.offsets, coloring.height);
    INFO("trial " << trial);
    CHECK(!find_coloring_error(intervals, aligned, coloring.height));
    const int64_t before = foreign_bytes(intervals, sharing, coloring.offsets), after = foreign_bytes(intervals, sharing, aligned);
    CHECK(after <= before);
    better += after < before;
    CHECK(align_shares(intervals, sharing, coloring.offsets, coloring.height) == aligned);
  }
  CHECK(better > 30);
}

}  // namespace
}  // namespace onnxc
