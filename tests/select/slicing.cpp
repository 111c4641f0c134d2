// How deep products are split into slices: slices cover k, fit a cache, and also work for a number of rows that is
// not known before the run.
#include "compiler/select/slicing.h"

#include <catch2/catch.hpp>

using namespace onnxc;

TEST_CASE("slices of deep products fit a cache, and their sums are bounded") {
  for (const char* name : {"x86-64-v4", "zen4", "zen5", "x86-64-v3", "aarch64", "generic"}) {
    const Target target = *find_target(name);
    for (const Dim m : {Dim(1), Dim(49), Dim(100'000), Dim::symbol("batch"), Dim::symbol("batch") * 125}) {
      for (const int64_t k : {16, 300, 640, 4608, 100'000}) {
        for (const int64_t run : {int64_t{1}, int64_t{64}, int64_t{512}}) {
          const TiledProduct product{.m = m, .n = 512, .k = k};
          const Tile tile = choose_tile(target, product);
          const Slicing slicing = choose_slicing(target, tile, product, run);
          INFO(name << " m " << m.text() << " k " << k << " run " << run << " steps " << slicing.steps << " rows " << slicing.rows);
          if (!is_deep(target, k, tile.nr)) {
            CHECK(slicing.steps == 0);
            continue;
          }
          if (slicing.steps == 0) {
            CHECK((m.is_constant() && m.value() <= tile.rows));  // the weights are read once as it is
            continue;
          }
          CHECK(slicing.steps >= 32);
          CHECK(slicing.steps <= std::max<int64_t>(64, target.l1_bytes / (4 * tile.nr)));
          CHECK(slicing.rows > 0);
          CHECK(slicing.rows % tile.rows == 0);
          CHECK(slicing.rows * tile.nr * 4 <= std::max(64 << 10, tile.rows * tile.nr * 4));
        }
      }
    }
  }
}
