// RNN, GRU and LSTM by constant recurrence weights, which are packed into gemm's panels: a time step is a product of
// few rows.
#include "compiler/ops/recurrent/recurrent.h"

#include <algorithm>
#include <iterator>

#include "compiler/ops/selected.h"
#include "compiler/select/tiles.h"
#include "compiler/select/weights/pack.h"
#include "compiler/select/weights/stored.h"

namespace onnxc {
namespace {

/// The matrices [hidden, columns] of all directions.
std::vector<Columns> matrices_of(const TensorData& r, const RecurrentKind& kind, int64_t hidden) {
  const std::span<const float> all = r.as<float>();
  std::vector<Columns> matrices;
  std::size_t at = 0;
  for (int64_t d = 0; d < r.shape[0]; ++d) {
    for (int64_t columns : kind.op == "GRU" ? std::vector<int64_t>{2 * hidden, hidden} : std::vector<int64_t>{kind.gates * hidden}) {
      const auto size = static_cast<std::size_t>(hidden * columns);
      matrices.push_back({all.subspan(at, size), columns});
      at += size;
    }
  }
  return matrices;
}

/// The matrices one after the other, each in gemm's panels.
std::vector<float> pack_matrices(const std::vector<Columns>& matrices, int64_t hidden, int64_t nr) {
  std::vector<float> packed;
  for (const Columns& matrix : matrices)
    std::ranges::copy(pack::panels(matrix.values, {.k = hidden, .n = matrix.count, .nr = nr}), std::back_inserter(packed));
  return packed;
}
std::vector<float> pack_scales(const std::vector<Columns>& matrices, std::span<const float> scales, int64_t nr) {
  std::vector<float> packed;
  for (const Columns& matrix : matrices) {
    if (scales.empty()) break;
    std::ranges::copy(pack::padded(scales.first(static_cast<std::size_t>(matrix.count)), nr), std::back_inserter(packed));
    scales = scales.subspan(static_cast<std::size_t>(matrix.count));
  }
  return packed;
}

}  // namespace

void consider_fast_recurrence(KernelQuery& l, double macs) {
  const RecurrentKind& kind = recurrent_kind(l.node().string("kind", ""));
  const int64_t hidden = l.node().integer("hidden_size", 0);
  const std::string row = kind.kernel();
  const Tile tile = choose_tile(l.target(), {.m = l.extents(0)[1], .n = hidden, .k = hidden});
  const int vectors = l.extents(0)[1] == Dim(1) && hidden >= 4 * l.target().vector_floats ? 4 : tile.vectors;
  const Dim steps = l.extents(0)[0];
  const StoredKernel kernel{row, macs, steps.is_constant() ? static_cast<double>(steps.value()) : 1, hidden,
                            element_count(l.extents(1)).value() / hidden};
  const std::vector<Columns> matrices = matrices_of(*l.constant(1), kind, hidden);
  consider_stored(l, kernel, candidate_storages(l, matrices, l.extents(0)[1], 0),
                  [&l, &kind, matrices, row, hidden, tile, vectors](const Storage& storage) {
                    const int64_t nr = vectors * l.target().vector_floats;
                    NamedArgs scales;
                    const std::vector<float> panels = pack_matrices(matrices, hidden, nr);
                    const Packed packed{l.constant(1)->as<float>(), static_cast<int64_t>(panels.size()), [&panels] { return panels; }};
                    const PointerArg r = add_stored(l, l.graph()[l.node().input(1)].name, packed, hidden, nr, storage,
                                                    pack_scales(matrices, storage.scales, nr), scales);
                    StepBuilder step = l.call(row);
                    step.template_arg(tile.rows).template_arg(vectors);
                    call_recurrence(l, kind, step, r, scales);
                  });
}

}  // namespace onnxc
