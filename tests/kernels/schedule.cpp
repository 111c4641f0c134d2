// The schedule cuts a product into pieces that cover it once.
#include <onnxc/contract/gemm.hpp>
#include <onnxc/schedule.hpp>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <utility>
#include <vector>

using namespace onnxc;

namespace {

/// How often each of n rows is visited by tiles of MR.
template <int MR>
std::vector<int> visits_by_tiles(int64_t n, TileOrder order) {
  std::vector<int> visits(static_cast<std::size_t>(n), 0);
  detail::for_each_tile<MR>(n, order, [&]<int R>(int64_t first) {
    CHECK(first >= 0);
    CHECK(first < n);
    for (int64_t i = first; i < std::min(first + R, n); ++i) ++visits[static_cast<std::size_t>(i)];
  });
  return visits;
}

template <int MR>
void check_tiles() {
  for (int64_t n = 0; n < 5 * MR + 2; ++n) {
    const std::vector<int> once(static_cast<std::size_t>(n), 1);
    CHECK(visits_by_tiles<MR>(n, TileOrder{}) == once);
    CHECK(visits_by_tiles<MR>(n, TileOrder(Share{0, 2}, 1)) == once);
    int64_t computed = 0;
    detail::for_each_tile<MR>(n, TileOrder{}, [&]<int R>(int64_t) { computed += R; });
    CHECK(computed == contract::padded_rows(n, MR));  // what the compiler reckons with
  }
}

}  // namespace

TEST_CASE("schedule: register tiles cover each row once, in any order") {
  check_tiles<1>();
  check_tiles<2>();
  check_tiles<5>();
  check_tiles<6>();
  check_tiles<7>();
  check_tiles<10>();
  check_tiles<14>();
  std::vector<int64_t> firsts;
  detail::for_each_tile<4>(22, TileOrder(Share{1, 2}, 1), [&]<int R>(int64_t first) { firsts.push_back(first); });
  CHECK(firsts == std::vector<int64_t>{4, 0, 12, 8, 16, 20});  // the last whole tile has no partner, and 2 rows are half a tile
  CHECK_FALSE(TileOrder(Share{}, 1).swaps_pairs);
  CHECK_FALSE(TileOrder(Share{0, 2}, int64_t{1} << 20).swaps_pairs);  // more than L2 holds
}

TEST_CASE("schedule: two heights of tiles leave few rows over") {
  for (int64_t n = 24; n < 600; n += 2) CHECK(contract::padded_rows(n, 10) == n);
  for (int64_t n = 6; n < 600; ++n) CHECK(contract::padded_rows(n, 6) == contract::round_up(n, 2));
  CHECK(contract::TileHeights(64, 10).high == 4);
  CHECK(contract::TileHeights(64, 10).low == 3);
  CHECK(contract::TileHeights(80, 10).high == 8);  // rather than ten
  CHECK(contract::padded_rows(64, 14) == 70);
  CHECK(contract::half_padded_rows(15, 10) == 15);
  for (int64_t rows = 1; rows < 300; ++rows) {
    const int64_t block = detail::even_block(rows, 126);
    CHECK(block <= 126);
    CHECK((rows + block - 1) / block == (rows + 125) / 126);
  }
}

TEST_CASE("schedule: blocks and slices cover a range once") {
  std::vector<std::pair<int64_t, int64_t>> found;
  detail::for_each_block({3, 20}, 8, [&](int64_t first, int64_t count) { found.emplace_back(first, count); });
  CHECK(found == std::vector<std::pair<int64_t, int64_t>>{{3, 8}, {11, 8}, {19, 1}});
  found.clear();
  detail::for_each_block({3, 3}, 8, [&](int64_t first, int64_t count) { found.emplace_back(first, count); });
  CHECK(found.empty());
  detail::for_each_slice(10, 4, [&](int64_t from, int64_t to) { found.emplace_back(from, to); });
  CHECK(found == std::vector<std::pair<int64_t, int64_t>>{{0, 4}, {4, 8}, {8, 10}});
  found.clear();
  detail::for_each_slice(0, 0, [&](int64_t from, int64_t to) { found.emplace_back(from, to); });
  CHECK(found == std::vector<std::pair<int64_t, int64_t>>{{0, 0}});  // the bias is stored even so
  CHECK(detail::block_rows(512, 6) % 6 == 0);
  CHECK(detail::block_rows(int64_t{1} << 40, 6) == 24);
}

TEST_CASE("schedule: thread shares cover a product once") {
  for (const int threads : {1, 2, 3, 7}) {
    for (const int64_t m : {0, 1, 5, 6, 41, 1000}) {
      for (const int64_t n : {1, 64, 4096}) {
        int64_t rows = 0, panels = 0;
        const int64_t panel_count = (n + 15) / 16;
        for (int i = 0; i < threads; ++i) {
          const detail::ProductShare share(Share{i, threads}, m, n, 300, 6, panel_count);
          if (share.by_rows) {
            CHECK(share.panels.end - share.panels.begin == panel_count);
            CHECK(share.rows.begin == rows);
            rows = share.rows.end;
            panels = panel_count;
          } else {
            CHECK(share.rows.end - share.rows.begin == m);
            CHECK(share.panels.begin == panels);
            panels = share.panels.end;
            rows = m;
          }
        }
        CHECK(rows == m);
        CHECK(panels == panel_count);
      }
    }
  }
}
