// The register tile for a product of m rows and n columns on a target.
#pragma once
#include <string>

#include "compiler/ir/dim.h"
#include "targets/target.h"

namespace onnxc {

struct Tile {
  int rows, vectors;   ///< MR and NV of runtime_stub/onnxc/tile.hpp
  int nr;              ///< columns: vectors * the target's vector width, less half of one where the last holds pairs
  bool pairs = false;  ///< kPairs of tile.hpp
};

/// A product for which a tile is chosen: m rows by n columns of depth k.
struct TiledProduct {
  Dim m;  ///< may be symbolic: then it is taken as large, and as often as `likely`
  int64_t n, k;
  /// Rows are pixels of image rows so long, and evenly spaced only within one; 0: all rows are evenly spaced.
  int64_t line = 0;
  bool pairs = false;       ///< whether the kernel has tiles with pairs
  bool short_runs = false;  ///< of k, for each of which a tile sets up anew, as stems do
  int64_t likely = 0;       ///< rows of a batch of one, where m is symbolic
};

/// Whether panels of so many columns are large against L2: then they go in slices (slicing.h).
bool is_deep(const Target& target, int64_t k, int64_t nr);

/// The tile that wastes least, weighted by what each reaches of the peak.
Tile choose_tile(const Target& target, const TiledProduct& product);

/// Multiply-adds of a product by gemm: of whole tiles, and what it takes to begin and to end each, measured in such.
double gemm_macs(const ProductCosts& costs, const Tile& tile, double rows, int64_t n, int64_t k);

/// The tile for one row, by gemv: as many vectors as leave few columns empty.
Tile choose_row_tile(const Target& target, int64_t n);

/// The same for Winograd's products, of `tiles` rows for each frequency and depth cin, whose constants stream by unless the kernel makes them. `relative`: what a padded multiply-add
/// costs against the best tile's.
struct WinogradTile {
  Tile tile;
  double relative;
};
WinogradTile choose_winograd_tile(const Target& target, int64_t tiles, int64_t cin, int64_t cout, bool streams = true);

/// Rows that a product of `rows` rows really does: those beyond the last whole tile take one or two half tiles.
int64_t padded_rows(int64_t rows, int tile_rows);
/// The same where the last tile is a half one or a whole one: never two halves.
int64_t tiled_rows(int64_t rows, int tile_rows);

}  // namespace onnxc
