#include "compiler/select/product/strassen.h"

#include <algorithm>
#include <optional>

#include "compiler/select/weights/pack.h"
#include "runtime_stub/onnxc/contract/strassen.hpp"

namespace onnxc {
namespace {

/// A factor for the time. A panel that exceeds L1 is read from L2 once for each tile of rows, and low tiles read it
/// faster than L2 delivers.
double waits_for_panels(const Target& target, const Tile& tile, int64_t k) {
  const StrassenCosts& costs = target.machine->strassen;
  return 4 * (k / 2) * tile.nr > target.l1_bytes && tile.rows < costs.high_tile ? 1 + costs.missing_row * (costs.high_tile - tile.rows) : 1;
}

/// The cost of a block in multiply-adds: the seven products, the sums of a before them, and what each tile and each
/// pair of panels adds.
double block_macs(const StrassenCosts& costs, const KernelTile& c, const Tile& tile, int64_t rows, int64_t n, int64_t k) {
  if (rows == 0) return 0;
  const auto upper = static_cast<double>((rows + 1) / 2), padded = static_cast<double>(tiled_rows((rows + 1) / 2, tile.rows)),
             depth = static_cast<double>(k / 2);
  const auto pairs = static_cast<double>(contract::strassen_pairs(n, tile.nr));
  const double ends = costs.ends.of(c.rows * c.vectors) + (n % tile.nr != 0 ? costs.ragged_ends : 0);
  return padded * pairs * tile.nr * (7 * depth / c.efficiency + ends) + costs.pair * pairs + upper * depth * costs.sums;
}

double sample_macs(const StrassenCosts& costs, const KernelTile& c, const Tile& tile, int64_t rows, int64_t block, int64_t n, int64_t k) {
  return static_cast<double>(rows / block) * block_macs(costs, c, tile, block, n, k) + block_macs(costs, c, tile, rows % block, n, k);
}

}  // namespace

StrassenPlan plan_strassen(const Target& target, const StrassenProduct& p) {
  constexpr int64_t kPanelRows = 448, kFewRows = 80;
  const int64_t fits = std::clamp<int64_t>(target.l2_bytes * 3 / 2 / (8 * p.k), 96, kPanelRows);
  // The least number of blocks where weights are beyond L2.
  const int64_t large = std::max<int64_t>((p.sample_rows + fits - 1) / fits, p.sample_rows >= kFewRows ? 2 : 1);
  // Threads share blocks of rows, as gemm's do. Otherwise they share panels, so that each thread reads as few of the
  // weights as it can.
  const bool by_rows = p.n <= p.sample_rows || p.n * p.k < int64_t{1} << 18;
  const StrassenCosts& costs = target.machine->strassen;
  std::optional<StrassenPlan> best;
  for (KernelTile c : costs.tiles) {
    const Tile tile{c.rows, c.vectors, c.vectors * target.vector_floats};
    c.efficiency /= waits_for_panels(target, tile, p.k);
    const int64_t pairs = contract::strassen_pairs(p.n, tile.nr), grain = 2 * int64_t{tile.rows},
                  weight_bytes = 4 * contract::strassen_weights(p.k, p.n, tile.nr);
    const auto consider = [&](int64_t block, int64_t tiles) {
      const int64_t blocks = p.samples * ((p.sample_rows + block - 1) / block), units = blocks * pairs,
                    // The blocks' pairs of panels that the first thread computes, whose share is the largest.
          longest = (units + p.threads - 1) / p.threads;
      const double macs = std::max(
          sample_macs(costs, c, tile, p.sample_rows, block, p.n, p.k),
          static_cast<double>(longest * p.threads) * block_macs(costs, c, tile, block, p.n, p.k) / static_cast<double>(p.samples * pairs));
      // If weights come from beyond L2, the first block waits whenever they arrive more slowly than it multiplies.
      const double waits =
          p.weights_stream
              ? std::max(0.0, costs.weight_byte * static_cast<double>(weight_bytes) - block_macs(costs, c, tile, block, p.n, p.k)) /
                    static_cast<double>(p.samples)
              : 0;
      // Further tiles of a block evict from L1 what the first one left there; three evict all of it.
      double overhead = 1 + costs.more_tiles * static_cast<double>(std::min<int64_t>(tiles, 3));
      if (by_rows && blocks % p.threads != 0)
        // Two threads read the same block.
        overhead += costs.shared_block * static_cast<double>(p.threads) / static_cast<double>(blocks);
      if (!best || macs * overhead + waits < best->sample_macs) best = {tile, block, macs * overhead + waits};
    };
    if (weight_bytes <= target.l2_bytes) {
      for (int64_t tiles = 1; tiles <= 8; ++tiles) {
        if (p.sample_rows >= kFewRows && tiles * grain >= p.sample_rows) break;
        consider(std::min(tiles * grain, p.sample_rows), tiles);
        const int64_t blocks = (p.sample_rows + tiles * grain - 1) / (tiles * grain);
        consider((p.sample_rows + blocks - 1) / blocks, tiles);
      }
    } else {
      for (int64_t blocks = large; blocks < large + p.threads; ++blocks) {
        const int64_t even = (p.sample_rows + blocks - 1) / blocks;
        consider(even, 1);
        if (p.sample_rows % blocks != 0) consider(std::min((even + grain - 1) / grain * grain, p.sample_rows), 1);
      }
    }
  }
  return *best;
}

void consider_strassen(KernelQuery& l, const TiledProduct& product, Dim sample_rows, const ConstantMatrix& b,
                       const std::function<void(const StrassenPlan&, PointerArg, PointerArg)>& build) {
  // Below this number of rows, columns and steps of a quarter there is nothing to gain.
  constexpr int64_t kLeast = 16;
  if (!sample_rows.is_constant() || product.k % 2 != 0) return;
  const int64_t sample = sample_rows.value(), rows = product.m.is_constant() ? product.m.value() : product.likely, n = product.n,
                k = product.k;
  if (std::min({sample / 2, n / 2, k / 2}) < kLeast) return;
  const int64_t samples = std::max<int64_t>(rows / sample, 1);
  const StrassenPlan plan = plan_strassen(
      l.target(),
      {.samples = samples, .sample_rows = sample, .n = n, .k = k, .threads = l.threads(), .weights_stream = l.weights_stream()});
  const int64_t room = contract::strassen_scratch(k, plan.block, plan.tile.rows, plan.tile.nr);
  if (4 * room > l.target().workspace_bytes()) return;
  const int64_t floats = contract::strassen_weights(k, n, plan.tile.nr);
  const auto make = [&l, plan, n, k, floats, room, b, build] {
    const PointerArg w = l.weights(
        b.name, {b.values, floats,
                 [b, plan, n, k] { return pack::strassen(b.values, {.k = k, .n = n, .nr = plan.tile.nr, .transposed = b.transposed}); },
                 b.constant});
    build(plan, w, l.thread_workspace("sums", ElementType::F32, Dim(room)));
  };
  l.consider("strassen", l.target().machine->strassen.earned * static_cast<double>(samples) * plan.sample_macs,
             4.0 * static_cast<double>(floats), make, 4 * (floats - k * n));
}

void strassen_args(StepBuilder& step, const StrassenPlan& plan, const View& a, PointerArg w, const View& y, PointerArg scratch,
                   NamedArgs params, Dim sample) {
  params.emplace_back("weights_end", UnitArg::WeightsEnd);
  step.template_arg(plan.tile.rows).template_arg(plan.tile.vectors);
  step.pointer(a).pointer(w).pointer(y).pointer(scratch).params(std::move(params)).dim(sample).dim(plan.block);
}

}  // namespace onnxc
