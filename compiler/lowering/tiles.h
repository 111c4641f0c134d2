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

}  // namespace onnxc
