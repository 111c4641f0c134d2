// The choice of the register tile for a product of m rows and n columns on a target.
#pragma once
#include <string>

#include "compiler/ir/dim.h"
#include "targets/target.h"

namespace onnxc {

struct Tile {
  int rows, vectors;  ///< MR and NV of runtime_stub/onnxc/tile.hpp
  /// Columns: vectors * the target's vector width, less half a vector if the last one holds pairs.
  int nr;
  bool pairs = false;  ///< kPairs of tile.hpp
};

/// A product for which a tile is chosen: m rows by n columns of depth k.
struct TiledProduct {
  /// If it is symbolic, the tile suits both common numbers of rows and `likely` rows.
  Dim m;
  int64_t n, k;
  /// Rows are pixels, and are evenly spaced only within image rows of this length. 0: all rows are evenly spaced.
  int64_t line = 0;
  bool pairs = false;       ///< the kernel has tiles with pairs
  bool short_runs = false;  ///< k comes in short runs, for each of which a tile begins anew, as in stems
  int64_t likely = 0;       ///< the rows of a batch of one, where m is symbolic
};

/// Whether a panel of nr columns is large compared with L2, so that the product goes in slices (slicing.h).
bool is_deep(const Target& target, int64_t k, int64_t nr);

/// The tile with the least estimated time: its padded work divided by the share of the FMA peak that it reaches.
Tile choose_tile(const Target& target, const TiledProduct& product);

/// The cost of gemm in multiply-adds: those of whole tiles, and what it takes to begin and to end each tile.
double gemm_macs(const ProductCosts& costs, const Tile& tile, double rows, int64_t n, int64_t k);

/// The tile of gemv for one row. It has as many vectors as it can without more padded columns.
Tile choose_row_tile(const Target& target, int64_t n);

/// The tile for Winograd's products: for each frequency, `tiles` rows of depth cin by cout columns. `streams`: the
/// transformed weights come from memory, rather than from the kernel itself. `relative`: the cost of a padded
/// multiply-add compared with one of the best tile.
struct WinogradTile {
  Tile tile;
  double relative;
};
WinogradTile choose_winograd_tile(const Target& target, int64_t tiles, int64_t cin, int64_t cout, bool streams = true);

/// contract::half_padded_rows for kernels whose last tile is a half one or a whole one, never two halves.
int64_t tiled_rows(int64_t rows, int tile_rows);

}  // namespace onnxc
