// The register tile for a product of m rows and n columns on a target.
#pragma once
#include <string>

#include "compiler/ir/dim.h"
#include "targets/target.h"

namespace onnxc {

struct Tile {
  int rows, vectors;  ///< MR and NV of runtime_stub/onnxc/tile.hpp
  int nr;             ///< columns: vectors * the target's vector width
};

/// The tile that wastes least, weighted by what each reaches of the peak. m may be symbolic: then it is taken as large.
Tile choose_tile(const Target& target, Dim m, int64_t n);

/// The same for Winograd's products, of `tiles` rows for each frequency, whose constants stream by. `relative`: what a padded multiply-add costs against
/// the best tile's.
struct WinogradTile {
  Tile tile;
  double relative;
};
WinogradTile choose_winograd_tile(const Target& target, int64_t tiles, int64_t cout);

/// Rows that a product of `rows` rows really does: those beyond the last whole tile take a half tile or a whole one.
int64_t padded_rows(int64_t rows, int tile_rows);

}  // namespace onnxc
