// Slices of k for deep products. A panel of constants that is large compared with L2 would be read from there, or
// from memory, once for each tile of rows. Instead a slice of the panel stays in L1 while many rows pass it; their
// sums wait in memory from one slice to the next.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "compiler/ops/kernel_query.h"
#include "compiler/select/tiles.h"

namespace onnxc {

struct Slicing {
  int64_t steps = 0;  ///< steps of k in a slice; 0: there are no slices
  int64_t rows = 0;   ///< rows that pass one slice before the next
};

/// `run`: the steps of k that a kernel takes without interruption, such as the channels of a tap. A slice holds
/// several runs, or an equal share of one.
Slicing choose_slicing(const Target& target, const Tile& tile, const TiledProduct& product, int64_t run);

/// Adds to `params` how gemm and conv go through their constants: the end of all constants, and the slices with
/// memory for their sums.
void add_streaming(KernelQuery& l, const Tile& tile, const TiledProduct& product, int64_t run, NamedArgs& params);

}  // namespace onnxc
