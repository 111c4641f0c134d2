#include "compiler/ops/linear/strassen.h"

#include <algorithm>

#include "compiler/lowering/pack.h"

namespace onnxc {
std::optional<StrassenPlan> plan_strassen(const Target& target, bool several, int64_t sample_rows, int64_t n, int64_t k) {
  constexpr int64_t kPanelRows = 448, kLeastRows = 40;
  const int64_t fits = std::clamp<int64_t>(target.l2_bytes * 3 / 2 / (8 * k), 96, kPanelRows);
  int64_t blocks = std::max<int64_t>((sample_rows + fits - 1) / fits, sample_rows >= 80 ? 2 : 1);
  if (several) {
    while (sample_rows % blocks != 0 && sample_rows / blocks >= kLeastRows) ++blocks;
    if (sample_rows / blocks < kLeastRows) return std::nullopt;
  }
  const int64_t even = (sample_rows + blocks - 1) / blocks;
  const Tile tile = choose_tile(target, {.m = (even + 1) / 2, .n = (n + 1) / 2, .k = k / 2});
  const int64_t grain = 2 * int64_t{tile.rows};
  return StrassenPlan{tile, sample_rows % blocks == 0 ? even : (even + grain - 1) / grain * grain};
}

namespace {

/// Multiply-adds of a block: those of seven products, and what the sums before them and between them cost, measured in such.
double block_macs(const StrassenPlan& plan, int64_t rows, int64_t columns, int64_t k) {
  const auto upper = static_cast<double>((rows + 1) / 2), padded = static_cast<double>(padded_rows((rows + 1) / 2, plan.tile.rows)), depth = static_cast<double>(k / 2);
  return padded * static_cast<double>(columns / 2) * (7 * depth + 20) + upper * depth * 12;
}

}  // namespace

void consider_strassen(Lowering& l, const TiledProduct& product, Dim sample_rows, const ConstantMatrix& b,
                       const std::function<void(const StrassenPlan&, PointerArg, PointerArg)>& build) {
  constexpr int64_t kLeast = 32;  // rows, columns and depth of a quarter below which there is nothing to win
  if (l.node().integer("exact", 0) != 0 || !sample_rows.is_constant() || product.k % 2 != 0) return;
  const int64_t rows = product.m.is_constant() ? product.m.value() : product.likely, n = product.n, k = product.k;
  if (std::min({sample_rows.value() / 2, n / 2, k / 2}) < kLeast) return;
  const auto planned = plan_strassen(l.target(), !(product.m == sample_rows), sample_rows.value(), n, k);
  if (!planned) return;
  const StrassenPlan plan = *planned;
  const int64_t pairs = (n + 2 * plan.tile.nr - 1) / (2 * plan.tile.nr), columns = pairs * 2 * plan.tile.nr, floats = pairs * 7 * (k / 2) * plan.tile.nr;
  const int64_t whole = rows / plan.block, rest = rows % plan.block;
  const double macs = static_cast<double>(whole) * block_macs(plan, plan.block, columns, k) + (rest > 0 ? block_macs(plan, rest, columns, k) : 0);
  const int64_t pitch = (k / 2 + 15) / 16 * 16 + 16, room = (plan.block + 1) / 2 * (4 * pitch + 2 * plan.tile.nr);  // as in strassen.hpp
  if (4 * room > l.target().workspace_bytes()) return;
  const auto make = [&l, plan, n, k, floats, room, b, build] {
    const PointerArg w = l.weights(b.name, {b.values, floats, [b, plan, n, k] { return pack::strassen(b.values, {.k = k, .n = n, .nr = plan.tile.nr, .transposed = b.transposed}); }});
    build(plan, w, l.part_workspace("sums", ElementType::F32, Dim(room)));
  };
  l.consider("strassen", macs, 4.0 * static_cast<double>(floats), make, 4 * (floats - k * n));
}

void strassen_args(StepBuilder& step, const StrassenPlan& plan, const View& a, PointerArg w, const View& y, PointerArg scratch, std::vector<std::pair<std::string, Arg>> params) {
  params.emplace_back("weights_end", name_arg("weights_end"));
  step.template_name(std::to_string(plan.tile.rows)).template_name(std::to_string(plan.tile.vectors));
  step.pointer(a).pointer(w).pointer(y).pointer(scratch).params(std::move(params)).dim(plan.block);
}

}  // namespace onnxc
