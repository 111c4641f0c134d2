#include "compiler/select/tiles.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "runtime_stub/onnxc/contract/gemm.hpp"

namespace onnxc {
namespace {

/// The number of rows that would take as long in whole tiles as these rows take.
double rows_taken(const ProductCosts& costs, const ProductTile& c, int64_t rows) {
  const contract::TileHeights tiles(rows, c.rows);
  const int64_t height = contract::low_tile(c.rows);
  // The sums of a low tile. If they are few, multiply-adds wait for the latency of earlier ones.
  const auto sums = static_cast<double>(height * c.vectors);
  return static_cast<double>(tiles.high * c.rows) + static_cast<double>(tiles.low * height) * std::max(1.0, costs.sums_in_flight / sums);
}

/// Rows that are computed for each one that there is. Where only a run knows how many there are: the mean over numbers that are common.
double waste(const ProductCosts& costs, const ProductTile& c, const TiledProduct& product) {
  const auto of = [&](int64_t rows) { return rows_taken(costs, c, rows) / static_cast<double>(rows); };
  if (product.m.is_constant()) return of(std::max<int64_t>(product.m.value(), 1));
  constexpr int64_t kCommon[] = {8, 16, 24, 32, 50, 64, 77, 100, 128, 197, 256, 500, 1000};
  double sum = 0;
  for (const int64_t rows : kCommon) sum += of(rows) / std::size(kCommon);
  return product.likely > 0 ? (sum + of(product.likely)) / 2 : sum;
}

int columns_of(const ProductTile& c, const Target& target) {
  return c.vectors * target.vector_floats - (c.pairs ? target.vector_floats / 2 : 0);
}

}  // namespace

bool is_deep(const Target& target, int64_t k, int64_t nr) { return 4 * k * nr > target.l2_bytes / 8; }

Tile choose_tile(const Target& target, const TiledProduct& product) {
  const ProductCosts& costs = target.machine->product;
  const ProductTile* best = nullptr;
  double least = 0;
  for (const ProductTile& c : product.short_runs ? costs.short_run_tiles : costs.tiles) {
    const int64_t nr = columns_of(c, target), columns = (product.n + nr - 1) / nr * nr;
    if (c.pairs && (!product.pairs || product.k % 2 != 0 || 4 * product.k * nr > target.l2_bytes / 4))
      // Tiles with pairs do not work in slices.
      continue;
    const bool even = product.line == 0 || product.line % c.rows == 0;
    // A panel that exceeds L1 is read from L2 once for each tile of rows, unless it is cut into slices.
    const bool from_l2 = nr * product.k * 4 > target.l1_bytes && !is_deep(target, product.k, nr);
    const bool again = !product.m.is_constant() || c.rows < product.m.value();
    const double waits = c.rows < costs.high_tile && again && from_l2 ? costs.low_tile_time : 1.0;
    const double runs = product.short_runs ? costs.short_runs / (c.rows * c.vectors) : 0;
    const double own_ends = c.ends > 0 ? c.ends : costs.ends.of(c.rows * c.vectors);
    const double ends = 1 + (own_ends + runs) / static_cast<double>(std::max<int64_t>(1, product.k));
    const double work = waste(costs, c, product) * static_cast<double>(columns) * waits * ends / (even ? c.even : c.uneven);
    if (best == nullptr || work < least) {
      best = &c;
      least = work;
    }
  }
  return {best->rows, best->vectors, columns_of(*best, target), best->pairs};
}

double gemm_macs(const ProductCosts& costs, const Tile& tile, double rows, int64_t n, int64_t k) {
  const auto whole = static_cast<double>(contract::padded_rows(std::llround(rows), tile.rows) * ((n + tile.nr - 1) / tile.nr) * tile.nr);
  return whole * (static_cast<double>(k) + costs.ends.of(tile.rows * tile.vectors)) * (tile.pairs ? costs.pairs_time : 1);
}

Tile choose_row_tile(const Target& target, int64_t n) {
  const auto with = [&](int vectors) { return Tile{1, vectors, vectors * target.vector_floats}; };
  const auto columns = [&](const Tile& tile) { return (n + tile.nr - 1) / tile.nr * tile.nr; };
  if (target.vector_floats == 1 && (n >= 16 || n == 8)) return with(8);  // the loop of float_tiles.hpp
  Tile best = with(4);
  for (const int vectors : {3, 2, 1}) {
    if (columns(with(vectors)) < columns(best)) best = with(vectors);
  }
  return best;
}

int64_t tiled_rows(int64_t rows, int tile_rows) {
  const int64_t half = (tile_rows + 1) / 2, rest = rows % tile_rows;
  return rows - rest + (rest == 0 ? 0 : rest <= half ? half : tile_rows);
}

WinogradTile choose_winograd_tile(const Target& target, int64_t tiles, int64_t cin, int64_t cout, bool streams) {
  const WinogradCosts& costs = target.machine->winograd;
  // A block of many tiles gets a multiple of the register tile's rows.
  if (costs.tiles.empty()) {
    constexpr int64_t kWhole = 60;
    return {choose_tile(target, {.m = tiles < kWhole / 2 ? tiles : (tiles + kWhole - 1) / kWhole * kWhole, .n = cout, .k = cin}), 1};
  }
  const KernelTile* best = nullptr;
  double least = 0, relative = 1;
  for (const KernelTile& c : costs.tiles) {
    const int64_t nr = static_cast<int64_t>(c.vectors) * target.vector_floats, columns = (cout + nr - 1) / nr * nr;
    // In each step a tile of rows prefetches one line of the next panel. If panels stream from memory and there are
    // fewer tiles than the panel has vectors, part of it arrives late.
    const double waits = streams && (tiles + c.rows - 1) / c.rows < c.vectors ? costs.late_panel_time : 1.0;
    const double work = static_cast<double>(contract::half_padded_rows(tiles, c.rows) * columns) * waits / c.efficiency;
    if (best != nullptr && work >= least) continue;
    best = &c;
    least = work;
    relative = waits / c.efficiency;
  }
  return {{best->rows, best->vectors, best->vectors * target.vector_floats}, relative};
}

}  // namespace onnxc
