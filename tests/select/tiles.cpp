// Which register tile a product gets, where cores of one instruction set differ in what is quick.
#include "compiler/select/tiles.h"

#include <catch2/catch.hpp>

using namespace onnxc;

namespace {

std::string shape(const Tile& tile) { return std::to_string(tile.rows) + "x" + std::to_string(tile.vectors); }

/// AVX-512 on that core, with caches of its size.
Target avx512(Core core) {
  Target target = *find_target("x86-64-v4");
  target.core = core;
  target.l1_bytes = 48 << 10;
  return target;
}

}  // namespace

TEST_CASE("short products take small tiles on Zen 5 alone") {
  const TiledProduct expansion{.m = 784, .n = 64, .k = 16};
  CHECK(shape(choose_tile(avx512(Core::Zen5), expansion)) == "4x4");
  CHECK(shape(choose_tile(avx512(Core::Common), expansion)) != "4x4");
  // Stems set each tile up for every row of the kernel: the larger ones pay there.
  TiledProduct stem = expansion;
  stem.short_runs = true;
  CHECK(shape(choose_tile(avx512(Core::Zen5), stem)) == shape(choose_tile(avx512(Core::Common), stem)));
  // Panels that leave L1 are read again for each tile of rows.
  CHECK(shape(choose_tile(avx512(Core::Zen5), {.m = 784, .n = 64, .k = 400})) != "4x4");
  // Other instruction sets have tables of their own.
  Target narrow = *find_target("x86-64-v3");
  const Tile common = choose_tile(narrow, expansion);
  narrow.core = Core::Zen5;
  CHECK(shape(choose_tile(narrow, expansion)) == shape(common));
}

TEST_CASE("a tile is one of the kernels' whatever the core") {
  for (const Core core : {Core::Common, Core::Zen4, Core::Zen5}) {
    for (const int64_t m : {1, 7, 16, 49, 784}) {
      for (const int64_t n : {8, 16, 48, 96, 1000}) {
        const Tile tile = choose_tile(avx512(core), {.m = m, .n = n, .k = 64, .pairs = true});
        CHECK(tile.rows * tile.vectors <= 28);  // of 32 registers, with a row of the weights
        CHECK(tile.nr == tile.vectors * 16 - (tile.pairs ? 8 : 0));
        const WinogradTile winograd = choose_winograd_tile(avx512(core), m, 64, n);
        CHECK(winograd.tile.rows * winograd.tile.vectors <= 28);
        CHECK(winograd.relative >= 1);
      }
    }
  }
}
