#include "compiler/select/tiles.h"

#include <cmath>
#include <span>

namespace onnxc {
namespace {

struct Candidate {
  int rows, vectors;
  double even, anywhere;  ///< of the FMA peak for whole tiles, rows evenly spaced or not
  bool pairs = false;
  double ends = 0;  ///< what starting and finishing a tile takes, in steps of k; 0: by its size
};

// 16-wide on Sapphire Rapids, panels in L1, those with pairs on Zen 4; 2026-11.
constexpr Candidate kAvx512[] = {
    {14, 2, 0.97, 0.85},     {13, 2, 0.97, 0.84},     {12, 2, 0.96, 0.84},      {11, 2, 0.96, 0.84},      {10, 2, 0.95, 0.83},
    {9, 2, 0.94, 0.83},      {8, 2, 0.93, 0.82},      {7, 3, 0.982, 0.92},      {8, 3, 0.98, 0.93},       {9, 3, 0.98, 0.93},
    {6, 4, 0.98, 0.97},      {7, 4, 0.97, 0.9},       {5, 4, 0.96, 0.95},       {4, 4, 0.92, 0.91},       {3, 4, 0.85, 0.85},
    {2, 4, 0.75, 0.75},      {1, 4, 0.5, 0.5},        {14, 1, 0.8, 0.59},       {10, 1, 0.77, 0.58},      {8, 1, 0.75, 0.57},
    {8, 2, 0.9, 0.7, true},  {7, 2, 0.89, 0.7, true}, {10, 2, 0.89, 0.7, true}, {8, 3, 0.92, 0.8, true},  {7, 3, 0.9, 0.8, true},
    {6, 4, 0.95, 0.9, true}, {5, 4, 0.94, 0.9, true}, {14, 1, 0.7, 0.5, true},  {10, 1, 0.68, 0.5, true}, {8, 1, 0.65, 0.5, true}};
// What Zen 5 has otherwise, 2026-11. Beside multiply-adds it stores a vector in two cycles, so that the fewer a tile finishes at once the better they hide under the next one's: with
// k = 16, 24, 40, 64 7x3 reaches 86, 89, 91, 96 % of the peak, 4x4 94, 94, 97, 97 (but stems lose a quarter by 4x4). 7x4 keeps a sum on the stack and waits for that.
constexpr Candidate kZen5[] = {{7, 4, 0.94, 0.9}, {4, 4, 0.985, 0.91, false, 0.9}};
// 8-wide with 16 registers: Zen 3, k from 16 to 1152, 2026-11. 2x4 does as well in a product alone, and worse in each network that had it.
constexpr Candidate kAvx2[] = {{6, 2, 0.97, 0.9, false, 3.0},
                               {5, 2, 0.955, 0.9, false, 3.0},
                               {4, 2, 0.93, 0.88, false, 3.0},
                               {4, 3, 0.96, 0.92, false, 2.6},
                               {3, 3, 0.95, 0.85, false, 2.6},
                               {2, 4, 0.7, 0.7, false, 1.8},
                               {12, 1, 0.76, 0.62},
                               {10, 1, 0.74, 0.61},
                               {8, 1, 0.61, 0.56},
                               {1, 4, 0.5, 0.5}};
// AArch64 has 32 registers of 4 floats and multiplies by lanes, so a tile also holds a vector of each of its rows. Unmeasured: by the instructions that
// g++ 12 makes of tile.hpp; it spills the rows of 7x3 and 6x4.
constexpr Candidate kNeon[] = {{6, 3, 0.97, 0.97}, {8, 2, 0.95, 0.95}, {6, 2, 0.94, 0.94}, {5, 4, 0.95, 0.95}, {4, 4, 0.93, 0.93},
                               {12, 1, 0.9, 0.9},  {8, 1, 0.85, 0.85}, {1, 4, 0.5, 0.5},   {2, 4, 0.7, 0.7},   {3, 4, 0.85, 0.85}};
constexpr Candidate kNarrow[] = {{6, 2, 0.95, 0.9}, {4, 3, 0.94, 0.9}, {8, 1, 0.75, 0.6}, {1, 4, 0.5, 0.5}, {2, 4, 0.7, 0.7}};

/// Vectors of eight floats, and sixteen registers of them.
bool is_avx2(const Target& target) { return target.has(Feature::Avx2) && !target.has(Feature::Avx512); }

std::span<const Candidate> candidates(const Target& target) {
  if (target.has(Feature::Avx512)) return kAvx512;
  if (target.has(Feature::Avx2)) return kAvx2;
  if (target.has(Feature::Neon)) return kNeon;
  return kNarrow;
}

/// The candidate as the target's core has it.
const Candidate& of_core(const Candidate& candidate, const Target& target) {
  if (target.core != Core::Zen5 || !target.has(Feature::Avx512) || candidate.pairs) return candidate;
  for (const Candidate& c : kZen5) {
    if (c.rows == candidate.rows && c.vectors == candidate.vectors) return c;
  }
  return candidate;
}

/// What it takes to begin and to end a tile, in steps of k.
double ends_of(int rows, int vectors) { return rows * vectors > 21 ? 2.2 : 1.2; }

/// Rows that a product of `rows` rows takes the time of.
double rows_taken(const Target& target, const Candidate& c, int64_t rows) {
  const auto whole = static_cast<double>(rows / c.rows * c.rows), halves = static_cast<double>(padded_rows(rows, c.rows)) - whole;
  if (!is_avx2(target)) return whole + halves;
  // Two multiply-adds a cycle, of four cycles each: the few of a half tile wait for one another.
  const double step = (c.rows + 1) / 2 * c.vectors / 2.0;  // cycles
  return whole + halves * std::max(1.0, 4 / step);
}

int columns_of(const Candidate& c, const Target& target) {
  return c.vectors * target.vector_floats - (c.pairs ? target.vector_floats / 2 : 0);
}

}  // namespace

bool is_deep(const Target& target, int64_t k, int64_t nr) { return 4 * k * nr > target.l2_bytes / 8; }

Tile choose_tile(const Target& target, const TiledProduct& product) {
  constexpr int64_t kLarge = 14 * 13 * 12 * 11 * 9 * 10;  // whole tiles of nearly all kinds
  const int64_t rows = product.m.is_constant() ? (product.m.value() < 1 ? 1 : product.m.value()) : kLarge;
  const Candidate* best = nullptr;
  double least = 0;
  const auto waste = [&](int64_t all, const Candidate& c) { return rows_taken(target, c, all) / static_cast<double>(all); };
  for (const Candidate& common : candidates(target)) {
    const Candidate& c = product.short_runs ? common : of_core(common, target);
    const int64_t nr = columns_of(c, target), columns = (product.n + nr - 1) / nr * nr;
    if (c.pairs && (!product.pairs || product.k % 2 != 0 || 4 * product.k * nr > target.l2_bytes / 4))
      continue;  // they do not go in slices
    const bool even = product.line == 0 || product.line % c.rows == 0;
    // A panel that leaves L1 is read from L2 once for each tile of rows, 128 / rows bytes for each cycle of two multiply-adds, of which some 16 come; unless
    // it goes in slices.
    const double waits =
        c.rows < 8 && c.rows < rows && nr * product.k * 4 > target.l1_bytes && !is_deep(target, product.k, nr) ? 1.15 : 1.0;
    // To start a tile and to finish it takes as long as so many steps of k; where little else is in flight, all the longer (Zen 4, k from 16 to 64).
    // And the three runs of a stem's kernel of 3x3, or more, some 12 cycles each, where two multiply-adds are one.
    const double runs = product.short_runs && is_avx2(target) ? 72.0 / (c.rows * c.vectors) : 0;
    const double ends =
        1 + ((c.ends > 0 ? c.ends : ends_of(c.rows, c.vectors)) + runs) / static_cast<double>(std::max<int64_t>(1, product.k));
    const double wasted = waste(rows, c) + (product.likely > 0 && !product.m.is_constant() ? waste(product.likely, c) : 0);
    const double work = wasted * static_cast<double>(columns) * waits * ends / (even ? c.even : c.anywhere);
    if (best == nullptr || work < least) {
      best = &c;
      least = work;
    }
  }
  return {best->rows, best->vectors, columns_of(*best, target), best->pairs};
}

double gemm_macs(const Tile& tile, double rows, int64_t n, int64_t k) {
  const auto whole = static_cast<double>(padded_rows(std::llround(rows), tile.rows) * ((n + tile.nr - 1) / tile.nr) * tile.nr);
  return whole * (static_cast<double>(k) + ends_of(tile.rows, tile.vectors)) * (tile.pairs ? 1.03 : 1);
}

Tile choose_row_tile(const Target& target, int64_t n) {
  const auto with = [&](int vectors) { return Tile{1, vectors, vectors * target.vector_floats}; };
  const auto columns = [&](const Tile& tile) { return (n + tile.nr - 1) / tile.nr * tile.nr; };
  Tile best = with(4);
  for (const int vectors : {3, 2, 1}) {
    if (columns(with(vectors)) < columns(best)) best = with(vectors);
  }
  return best;
}

int64_t padded_rows(int64_t rows, int tile_rows) {
  const int64_t half = (tile_rows + 1) / 2, rest = rows % tile_rows;
  return rows - rest + (rest + half - 1) / half * half;
}

int64_t tiled_rows(int64_t rows, int tile_rows) {
  const int64_t half = (tile_rows + 1) / 2, rest = rows % tile_rows;
  return rows - rest + (rest == 0 ? 0 : rest <= half ? half : tile_rows);
}

WinogradTile choose_winograd_tile(const Target& target, int64_t tiles, int64_t cin, int64_t cout, bool streams) {
  if (!target.has(Feature::Avx512)) {  // blocks of many tiles are made whole numbers of the register tile's rows
    constexpr int64_t kWhole = 60;
    return {choose_tile(target, {.m = tiles < kWhole / 2 ? tiles : (tiles + kWhole - 1) / kWhole * kWhole, .n = cout, .k = cin}), 1};
  }
  // Few loads for each multiply-add matter more than in a plain product, as rows come from L2.
  struct WinogradCandidate {
    int rows, vectors;
    double efficiency;
  };
  static constexpr WinogradCandidate kCommon[] = {{7, 4, 1.0},   {6, 4, 1.0},  {5, 4, 0.97},  {4, 4, 0.86},
                                                  {14, 2, 0.93}, {8, 2, 0.87}, {14, 1, 0.76}, {8, 1, 0.7}};
  // Measured at 16, 64 and 256 channels, 2026-11: 6x3, 7x3 and 8x2 reach 92 to 98 % of the peak, 7x4 87 to 97, 8x1 89 to 95.
  static constexpr WinogradCandidate kZen4Tiles[] = {{7, 4, 0.985}, {6, 4, 1.0},   {5, 4, 0.99}, {4, 4, 0.985},  {7, 3, 1.0},
                                                     {6, 3, 1.0},   {14, 2, 0.99}, {8, 2, 1.0},  {14, 1, 0.935}, {8, 1, 0.965}};
  static constexpr WinogradCandidate kZen5Tiles[] = {{7, 4, 0.96},  {6, 4, 1.0},  {5, 4, 0.99},  {4, 4, 0.94},  {7, 3, 0.97}, {6, 3, 0.97},
                                                     {14, 2, 0.91}, {8, 2, 0.97}, {16, 1, 0.78}, {14, 1, 0.76}, {8, 1, 0.75}};
  const std::span<const WinogradCandidate> tiles_of_core = target.core == Core::Zen5   ? std::span<const WinogradCandidate>(kZen5Tiles)
                                                           : target.core == Core::Zen4 ? std::span<const WinogradCandidate>(kZen4Tiles)
                                                                                       : kCommon;
  const WinogradCandidate* best = nullptr;
  double least = 0, relative = 1;
  for (const WinogradCandidate& c : tiles_of_core) {
    const int64_t nr = static_cast<int64_t>(c.vectors) * target.vector_floats, columns = (cout + nr - 1) / nr * nr;
    // Each tile of rows prefetches one line of the next panel a step: too few tiles leave a part of it to be waited for, where panels stream by.
    const double waits = streams && (tiles + c.rows - 1) / c.rows < c.vectors ? 1.2 : 1.0;
    const double work = static_cast<double>(padded_rows(tiles, c.rows) * columns) * waits / c.efficiency;
    if (best != nullptr && work >= least) continue;
    best = &c;
    least = work;
    relative = waits / c.efficiency;
  }
  return {{best->rows, best->vectors, best->vectors * target.vector_floats}, relative};
}

}  // namespace onnxc
