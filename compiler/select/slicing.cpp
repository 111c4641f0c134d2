#include "compiler/select/slicing.h"

#include <algorithm>

#include "runtime_stub/onnxc/contract/gemm.hpp"

namespace onnxc {

Slicing choose_slicing(const Target& target, const Tile& tile, const TiledProduct& product, int64_t run) {
  // The size of the sums that each slice reads and writes once.
  constexpr int64_t kSumsBytes = 64 << 10;
  const int64_t line = 4 * int64_t{tile.nr}, rows = product.m.is_constant() ? product.m.value() : product.m.max_value();
  if (target.bare || rows <= tile.rows || tile.pairs || !is_deep(target, product.k, tile.nr)) return {};
  const int64_t most = std::max<int64_t>(64, target.l1_bytes / line), runs = (run + most - 1) / most;
  Slicing slicing;
  slicing.steps = run > most ? (run + runs - 1) / runs : most / run * run;
  // Each panel reads the rows of a block again, from L2.
  const int64_t stay = std::max<int64_t>(48, target.l2_bytes * 3 / 4 / (4 * product.k));
  const int64_t most_rows = std::max<int64_t>(1, std::min(kSumsBytes / line, stay) / tile.rows) * tile.rows;
  slicing.rows = rows < most_rows ? (rows + tile.rows - 1) / tile.rows * tile.rows : most_rows;
  return slicing;
}

void add_streaming(KernelQuery& l, const Tile& tile, const TiledProduct& product, int64_t run, NamedArgs& params) {
  params.emplace_back("weights_end", UnitArg::WeightsEnd);
  const Slicing slicing = choose_slicing(l.target(), tile, product, run);
  if (slicing.steps == 0) return;
  FormArg slices;
  slices.form = "Slices";
  slices.pointer = l.thread_workspace("sums", ElementType::F32, Dim(contract::slices_scratch(slicing.rows, tile.nr)));
  slices.members = {slicing.steps, slicing.rows};
  params.emplace_back("slices", std::move(slices));
}

}  // namespace onnxc
