#include "compiler/lowering/tiles.h"

#include <span>

namespace onnxc {
namespace {

struct Candidate {
  int rows, vectors;
  double efficiency;  ///< of the FMA peak for whole tiles
};

// PERFORMANCE figures: 16-wide tiles on Zen 4 and Sapphire Rapids, 8-wide with 16 registers; 2026-11.
constexpr Candidate kAvx512[] = {{14, 2, 0.98}, {12, 2, 0.97}, {8, 3, 0.98}, {9, 3, 0.97}, {6, 4, 0.97}, {7, 4, 0.97}, {14, 1, 0.88},
                                 {1, 4, 0.5},   {2, 4, 0.75},  {3, 4, 0.85}, {4, 4, 0.9},  {5, 4, 0.93}};
constexpr Candidate kAvx2[] = {{6, 2, 0.97}, {4, 3, 0.96}, {8, 1, 0.75}, {1, 4, 0.5}, {2, 4, 0.7}, {3, 3, 0.85}};
// AArch64 has 32 registers of 4 floats and multiplies by lanes, so a tile also holds a vector of each of its rows. Unmeasured: by the instructions that
// g++ 12 makes of tile.hpp; it spills the rows of 7x3 and 6x4.
constexpr Candidate kNeon[] = {{6, 3, 0.97}, {8, 2, 0.95}, {6, 2, 0.94}, {5, 4, 0.95}, {4, 4, 0.93}, {12, 1, 0.9}, {8, 1, 0.85},
                               {1, 4, 0.5},  {2, 4, 0.7},  {3, 4, 0.85}};
constexpr Candidate kNarrow[] = {{6, 2, 0.95}, {4, 3, 0.94}, {8, 1, 0.75}, {1, 4, 0.5}, {2, 4, 0.7}};

}  // namespace

Tile choose_tile(const Target& target, Dim m, int64_t n) {
  std::span<const Candidate> list = kNarrow;
  if (target.isa == Isa::Avx512) list = kAvx512;
  if (target.isa == Isa::Avx2) list = kAvx2;
  if (target.isa == Isa::Neon) list = kNeon;
  constexpr int64_t kLarge = 14 * 12 * 9 * 8;  // whole tiles of all kinds
  const int64_t rows = m.is_constant() ? (m.value() < 1 ? 1 : m.value()) : kLarge;
  const Candidate* best = nullptr;
  double least = 0;
  for (const Candidate& c : list) {
    const int64_t done = padded_rows(rows, c.rows);
    const int64_t nr = static_cast<int64_t>(c.vectors) * target.vector_floats, columns = (n + nr - 1) / nr * nr;
    const double work = static_cast<double>(done) * static_cast<double>(columns) / c.efficiency;
    if (best == nullptr || work < least) {
      best = &c;
      least = work;
    }
  }
  return {best->rows, best->vectors, best->vectors * target.vector_floats};
}

int64_t padded_rows(int64_t rows, int tile_rows) {
  const int64_t half = (tile_rows + 1) / 2, rest = rows % tile_rows;
  return rows - rest + (rest == 0 ? 0 : rest <= half && tile_rows > 3 ? half : tile_rows);
}

WinogradTile choose_winograd_tile(const Target& target, int64_t tiles, int64_t cout) {
  if (target.isa != Isa::Avx512) return {choose_tile(target, tiles, cout), 1};
  // Efficiencies from the table in winograd.hpp: few loads for each multiply-add matter more than in a plain product, as rows come from L2.
  constexpr Candidate kTiles[] = {{7, 4, 1.0}, {14, 2, 0.87}, {8, 2, 0.82}, {14, 1, 0.66}, {8, 1, 0.62}};
  const Candidate* best = nullptr;
  double least = 0, relative = 1;
  for (const Candidate& c : kTiles) {
    const int64_t nr = static_cast<int64_t>(c.vectors) * target.vector_floats, columns = (cout + nr - 1) / nr * nr;
    // Each tile of rows prefetches one line of the next panel a step: too few tiles leave a part of it to be waited for.
    const double waits = (tiles + c.rows - 1) / c.rows < c.vectors ? 1.2 : 1.0;
    const double work = static_cast<double>(padded_rows(tiles, c.rows) * columns) * waits / c.efficiency;
    if (best != nullptr && work >= least) continue;
    best = &c;
    least = work;
    relative = waits / c.efficiency;
  }
  return {{best->rows, best->vectors, best->vectors * target.vector_floats}, relative};
}

}  // namespace onnxc
