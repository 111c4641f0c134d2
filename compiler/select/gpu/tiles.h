// Which tile of a GPU's product kernels (runtime_stub/onnxc/gpu/product_tile.hpp) computes a product, and by how many
// blocks.
#pragma once
#include <string>

#include "targets/target.h"

namespace onnxc {

/// A block computes rows x cols, a warp warp_rows x warp_cols of them.
struct GpuTile {
  int rows, cols, warp_rows, warp_cols, stages;
  int resident;  ///< blocks that a multiprocessor has room for
  std::string type() const;
};

/// [m, k] by [k, n], so many times, with k in words of 32 bits; likely values where only a run tells.
struct GpuProductSize {
  double m, n, words, matrices = 1;
  bool may_split = true;  ///< all are known, so that there can be memory for shared sums
};

struct GpuTilePlan {
  GpuTile tile;
  int64_t splits = 1;  ///< blocks that share k of one tile
  double macs = 0;     ///< multiply-adds of words that the whole GPU could do meanwhile
  /// Sums that blocks leave for each other, and tickets that they draw.
  int64_t parts = 0, tickets = 0;
};
/// The plan that ends first.
GpuTilePlan plan_gpu_product(const Gpu& gpu, const GpuProductSize& size);

}  // namespace onnxc
