// An LSTM on bytes by constant recurrence weights, which are packed into gemm_quads' panels.
#include <algorithm>
#include <iterator>

#include "compiler/ops/recurrent/recurrent.h"
#include "compiler/ops/selected.h"
#include "compiler/select/tiles.h"
#include "compiler/select/weights/pack.h"
#include "runtime_stub/onnxc/contract/recurrent_bytes.hpp"

namespace onnxc {
namespace {

struct PackedDirections {
  std::vector<int8_t> codes;
  std::vector<float> scales;
  std::vector<int32_t> zeros, sums;
};

/// The matrices [hidden, columns] of all directions in panels, and what describes their columns, padded to whole panels.
PackedDirections pack_directions(std::span<const int8_t> r, std::span<const float> scales, std::span<const int32_t> zeros, int64_t hidden,
                                 int64_t nr) {
  const int64_t columns = 4 * hidden, matrix = hidden * columns;
  PackedDirections packed;
  for (int64_t d = 0; d * matrix < std::ssize(r); ++d) {
    const auto codes = r.subspan(static_cast<std::size_t>(d * matrix), static_cast<std::size_t>(matrix));
    std::ranges::copy(pack::quads(codes, {.k = hidden, .n = columns, .nr = nr}), std::back_inserter(packed.codes));
    for (int64_t j = 0; j < contract::round_up(columns, nr); ++j) {
      const auto at = static_cast<std::size_t>(d * columns + j);
      packed.scales.push_back(j < columns ? scales[at] : 0.0f);
      packed.zeros.push_back(j < columns ? zeros[at] : 0);
      int32_t sum = 0;
      for (int64_t k = 0; j < columns && k < hidden; ++k) sum += codes[static_cast<std::size_t>(k * columns + j)] - zeros[at];
      packed.sums.push_back(sum);
    }
  }
  return packed;
}

/// One sequence takes a tile of one row, which needs several vectors of sums to hide the latency of a product: eight where there are registers for them
/// and no columns are padded.
Tile tile_of(const KernelQuery& l, Dim batch, int64_t hidden) {
  const int lanes = l.target().vector_floats;
  if (batch == Dim(1)) {
    const int vectors = lanes == 16 && 4 * hidden % (8 * lanes) == 0 ? 8 : 4;
    return {.rows = 1, .vectors = vectors, .nr = vectors * lanes};
  }
  return choose_tile(l.target(), {.m = batch, .n = 4 * hidden, .k = contract::quads(hidden)});
}

}  // namespace

void consider_byte_recurrence(KernelQuery& l, double macs) {
  const int64_t hidden = l.node().integer("hidden_size", 0);
  if (l.constant(1) == nullptr || l.constant(7) == nullptr || l.constant(8) == nullptr || hidden == 0 || hidden > contract::kMostBytesDepth)
    return;
  const Dim batch = l.extents(0)[1];
  const Tile tile = tile_of(l, batch, hidden);
  l.consider("lstm_bytes", macs, 0, [&l, hidden, batch, tile] {
    const PackedDirections packed =
        pack_directions(l.constant(1)->as<int8_t>(), l.constant(7)->as<float>(), l.constant(8)->as<int32_t>(), hidden, tile.nr);
    const std::string name = l.graph()[l.node().input(1)].name;
    const PointerArg r = l.weights(name, ElementType::I8, packed.codes);
    const NamedArgs columns{{"scales", l.weights(name, ElementType::F32, packed.scales)},
                            {"zeros", l.weights(name, ElementType::I32, packed.zeros)},
                            {"sums", l.weights(name, ElementType::I32, packed.sums)}};
    const std::vector<PointerArg> scratch{l.workspace("bytes", ElementType::U8, batch * contract::recurrent_bytes_pitch(hidden)),
                                          l.workspace("row_sums", ElementType::I32, batch)};
    StepBuilder step = l.call("lstm_bytes");
    step.template_arg(tile.rows).template_arg(tile.vectors);
    call_recurrence(l, recurrent_kind("LSTM"), step, r, columns, scratch);
  });
}

}  // namespace onnxc
