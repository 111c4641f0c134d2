// Which register tile a product gets. Machines of one instruction set differ in which tiles are fast.
#include "compiler/select/tiles.h"

#include <catch2/catch.hpp>

using namespace onnxc;

namespace {

std::string shape(const Tile& tile) { return std::to_string(tile.rows) + "x" + std::to_string(tile.vectors); }

/// The AVX-512 target for a machine, with an L1 cache of 48 KiB.
Target avx512(const Machine& machine) {
  Target target = *find_target("x86-64-v4");
  target.machine = &machine;
  target.l1_bytes = 48 << 10;
  return target;
}

}  // namespace

TEST_CASE("short products take small tiles on Zen 5 alone") {
  const TiledProduct expansion{.m = 784, .n = 64, .k = 16};
  CHECK(shape(choose_tile(avx512(machines::kZen5), expansion)) == "4x4");
  CHECK(shape(choose_tile(avx512(machines::kAvx512), expansion)) != "4x4");
  // Stems set up each tile again for every row of the kernel, so there larger tiles pay off.
  TiledProduct stem = expansion;
  stem.short_runs = true;
  CHECK(shape(choose_tile(avx512(machines::kZen5), stem)) == shape(choose_tile(avx512(machines::kAvx512), stem)));
  // Panels that do not fit L1 are read again for each tile of rows.
  CHECK(shape(choose_tile(avx512(machines::kZen5), {.m = 784, .n = 64, .k = 400})) != "4x4");
}

TEST_CASE("a tile is one of the kernels' whatever the machine") {
  for (const Machine* machine : {&machines::kAvx512, &machines::kZen4, &machines::kZen5}) {
    for (const int64_t m : {1, 7, 16, 49, 784}) {
      for (const int64_t n : {8, 16, 48, 96, 1000}) {
        const Tile tile = choose_tile(avx512(*machine), {.m = m, .n = n, .k = 64, .pairs = true});
        CHECK(tile.rows * tile.vectors <= 28);  // of 32 registers, with a row of the weights
        CHECK(tile.nr == tile.vectors * 16 - (tile.pairs ? 8 : 0));
        const WinogradTile winograd = choose_winograd_tile(avx512(*machine), m, 64, n);
        CHECK(winograd.tile.rows * winograd.tile.vectors <= 28);
        CHECK(winograd.relative >= 1);
      }
    }
  }
}
