#include "compiler/select/gpu/tiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime_stub/onnxc/contract/gpu.hpp"

namespace onnxc {
namespace {

// Registers and shared memory of each, as ptxas tells them, are in tests/gpu/kernels.list.
constexpr GpuTile kTiles[] = {
    {128, 128, 32, 64, 3, 1},
    {64, 64, 32, 32, 3, 3},
    {32, 64, 32, 16, 4, 3},
};
constexpr double kStage = 32;        // words of k
constexpr double kBusyWarps = 8;     // of a multiprocessor, below which it waits for memory
constexpr double kMacsOfPart = 200;  // multiply-adds in the time in which one sum is left for another block, and read

int64_t warps(const GpuTile& tile) { return int64_t{tile.rows / tile.warp_rows} * (tile.cols / tile.warp_cols); }

}  // namespace

std::string GpuTile::type() const { return fmt::format("gpu::Tile<{}, {}, {}, {}, {}>", rows, cols, warp_rows, warp_cols, stages); }

GpuTilePlan plan_gpu_product(const Gpu& gpu, const GpuProductSize& size) {
  GpuTilePlan best;
  for (const GpuTile& tile : kTiles) {
    const double tiles = std::ceil(size.m / tile.rows) * std::ceil(size.n / tile.cols) * size.matrices,
                 stages = std::ceil(size.words / kStage);
    for (int64_t splits = 1; splits <= 16 && (splits == 1 || (size.may_split && static_cast<double>(splits) * 4 <= stages)); splits *= 2) {
      const double blocks = tiles * static_cast<double>(splits), of_one = std::ceil(blocks / gpu.multiprocessors);
      const double depth = std::ceil(stages / static_cast<double>(splits)) * kStage;
      const double busy = std::min(1.0, std::min(of_one, double(tile.resident)) * static_cast<double>(warps(tile)) / kBusyWarps);
      const double sums = double(tile.rows) * tile.cols, shared = splits > 1 ? sums * kMacsOfPart * 2 : 0;
      const double macs = of_one * (sums * depth / busy + shared) * gpu.multiprocessors;
      if (best.macs != 0 && macs >= best.macs) continue;
      best = {tile, splits, macs};
      if (splits == 1) continue;
      const auto whole = static_cast<int64_t>(tiles);
      best.parts = contract::gpu::parts(whole, tile.rows, tile.cols, splits);
      best.tickets = contract::gpu::tickets(whole, splits);
    }
  }
  return best;
}

}  // namespace onnxc
