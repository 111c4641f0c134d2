#include "compiler/select/product/fast_inner_product.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "compiler/select/weights/pack.h"
#include "runtime_stub/onnxc/contract/gemm.hpp"
#include "runtime_stub/onnxc/contract/inner_product.hpp"

namespace onnxc {
InnerProductPlan plan_fast_inner_product(const Target& target, int64_t rows, int64_t n, int64_t k) {
  const InnerProductCosts& costs = target.machine->inner_product;
  const auto panels = static_cast<double>((n + target.vector_floats - 1) / target.vector_floats), depth = static_cast<double>(k);
  std::optional<InnerProductPlan> best;
  for (const KernelTile& h : costs.tiles) {
    const contract::TileHeights tiles(rows, h.rows);
    const auto whole = static_cast<double>(tiles.high * h.rows), low = static_cast<double>(tiles.low * contract::low_tile(h.rows));
    const double sums = panels * target.vector_floats * (whole + low / costs.low_tile);
    const double macs = sums * (depth / 1.5 / h.efficiency + costs.ends) + static_cast<double>(rows) * (costs.row + costs.value * depth);
    if (!best || macs < best->macs) best = InnerProductPlan{.rows = h.rows, .macs = macs};
  }
  // Weights that stay in L2 are read again for each block, so blocks are a few tiles only. Other weights are read as
  // seldom as possible: blocks take as many rows as fit into L2 beside the weights.
  const bool stay = static_cast<double>(target.vector_floats) * panels * depth * 4 <= static_cast<double>(target.l2_bytes) / 2;
  const int64_t room = stay ? 2 * target.l1_bytes : target.workspace_bytes(),
                tile = 4 * contract::prepared_floats(k, best->rows, target.vector_floats);
  const int64_t tiles = std::max<int64_t>((room - 2 * tile) / tile, 1), blocks = (rows + tiles * best->rows - 1) / (tiles * best->rows);
  best->block = std::min(((rows + blocks - 1) / blocks + best->rows - 1) / best->rows * best->rows, rows);
  best->readings = stay ? 1 : blocks;
  return *best;
}

void consider_fast_inner_product(KernelQuery& l, std::string_view row, const TiledProduct& product, const ConstantMatrix& b,
                                 const std::function<void(const InnerProductPlan&, PointerArg, PointerArg)>& build) {
  constexpr int64_t kLeastRows = 7, kLeastDepth = 16;
  const Target& target = l.target();
  // for any number of rows
  const bool any = row == "fast_inner_product_any";
  const int64_t rows = product.m.is_constant() ? product.m.value() : product.likely, n = product.n, k = product.k,
                lanes = target.vector_floats;
  if (!target.machine->adds_beside_products || rows < kLeastRows || k < kLeastDepth) return;
  if (!std::ranges::all_of(b.values, [](float w) { return std::fabs(w) <= pack::kMostInnerProductWeight; })) return;
  constexpr int64_t kMany = 14 * 12 * 10;
  // Tiles are planned for many rows; the cost is that of the likely number.
  const int64_t planned = any ? kMany : rows;
  InnerProductPlan plan = plan_fast_inner_product(target, planned, n, k);
  plan.macs *= static_cast<double>(rows) / static_cast<double>(planned);
  const int64_t room = contract::fast_inner_product_scratch(k, plan.block, lanes), floats = contract::inner_product_weights(k, n, lanes);
  if (4 * room > target.workspace_bytes()) return;
  const auto make = [&l, n, k, lanes, floats, room, b, plan, build] {
    const PointerArg w = l.weights(
        b.name, {b.values, floats,
                 [b, n, k, lanes] { return pack::fast_inner_product(b.values, {.k = k, .n = n, .nr = lanes, .transposed = b.transposed}); },
                 b.constant});
    build(plan, w, l.thread_workspace("rows", ElementType::F32, Dim(room)));
  };
  l.consider(row, target.machine->inner_product.earned * plan.macs, 4.0 * static_cast<double>(floats * plan.readings), make,
             4 * (floats - k * n));
}

void fast_inner_product_args(StepBuilder& step, const InnerProductPlan& plan, const View& a, PointerArg w, const View& y,
                             PointerArg scratch, NamedArgs params) {
  params.emplace_back("weights_end", UnitArg::WeightsEnd);
  step.template_arg(plan.rows).pointer(a).pointer(w).pointer(y).pointer(scratch).params(std::move(params)).dim(plan.block);
}

}  // namespace onnxc
