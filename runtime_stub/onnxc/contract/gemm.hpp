// Products (gemm.hpp, gemm_scaled.hpp, matmul.hpp): panels of weights and scratch memory.
#pragma once
#include "sizes.hpp"

namespace onnxc::inline ONNXC_ISA::contract {

/// A matrix [k, n] in panels of nr columns, the last one filled up.
constexpr int64_t panels_floats(int64_t k, int64_t n, int64_t nr) { return round_up(n, nr) * k; }

/// The rows that register tiles of `tile` rows compute of a product of `rows` rows: whole tiles, then one or two of half
/// as many (for_each_tile in schedule.hpp).
constexpr int64_t padded_rows(int64_t rows, int64_t tile) { return rows / tile * tile + round_up(rows % tile, (tile + 1) / 2); }

/// Scratch of a share that takes k in slices: the sums of a panel for the rows of a block.
constexpr int64_t slices_scratch(int64_t rows, int64_t nr) { return rows * nr; }

/// Scratch of a share of gemm_scaled: all panels.
constexpr int64_t gemm_scaled_scratch(int64_t k, int64_t n, int64_t nr) { return panels_floats(k, n, nr); }

/// Scratch of a share of matmul: the panel that it packs. N is int64_t, or the compiler's type for extents that are
/// known only at run time.
template <class N>
constexpr N matmul_scratch(N k, int64_t nr) {
  return k * nr;
}

}  // namespace onnxc::contract
