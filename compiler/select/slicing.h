// Deep products go through k in slices: a panel of constants that is large against L2 would come from there, or from memory, once for each tile of
// rows. A slice of it stays in L1 while all rows run past, with their sums in memory between two slices.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "compiler/ops/kernel_query.h"
#include "compiler/select/tiles.h"

namespace onnxc {

struct Slicing {
  int64_t steps = 0;  ///< of k at a time; 0: all of them
  int64_t rows = 0;   ///< that run past one slice
};

/// `run`: steps of k that a kernel does in one go, such as the channels of a tap: slices hold several of them, or equal shares of one.
Slicing choose_slicing(const Target& target, const Tile& tile, const TiledProduct& product, int64_t run);

/// Adds how gemm and conv go through their constants to `params`: where all constants end, and slices, with memory for the sums.
void add_streaming(KernelQuery& l, const Tile& tile, const TiledProduct& product, int64_t run, NamedArgs& params);

}  // namespace onnxc
