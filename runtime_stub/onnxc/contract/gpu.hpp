// Products of GPUs (gpu/gemm.hpp, gpu/conv.hpp and others): rows of operands, and what blocks need to share a result.
//
// An operand of a product is rows of k elements. Kernels copy 16 bytes at a time, so a row begins at a multiple of 16
// bytes, and from its end to the next such multiple lie zeros:
//
//   [n][row_of(k)]                         weights and activations of gemm, row_of(k) elements from one row to the next
//   [out][kh * kw][row_of(channels)]       weights of conv
//   [kh * kw][row_of(out)]                 weights of conv_depthwise
#pragma once
#include "sizes.hpp"

namespace onnxc::inline ONNXC_ISA::contract::gpu {

/// The least number of elements from one row of k to the next. N is int64_t, or the compiler's type for extents that are known
/// only at run time; element_bytes divides 16.
template <class N>
constexpr auto row_of(N k, int64_t element_bytes) {
  return round_up(k, 16 / element_bytes);
}

/// How many tiles of rows x cols cover `batches` matrices [m, n].
constexpr int64_t tiles(int64_t m, int64_t n, int64_t batches, int64_t rows, int64_t cols) {
  return round_up(m, rows) / rows * (round_up(n, cols) / cols) * batches;
}

/// Sums (words of 32 bits) of the workspace where `splits` blocks share k of each tile.
constexpr int64_t parts(int64_t tiles, int64_t rows, int64_t cols, int64_t splits) { return splits > 1 ? tiles * splits * rows * cols : 0; }
/// Words of Queue::tickets() then.
constexpr int64_t tickets(int64_t tiles, int64_t splits) { return splits > 1 ? tiles : 0; }

/// Floats of the workspace where `splits` blocks share the keys of each of `rows` queries of all heads: sums, their scale and
/// the total. Tickets are those of as many tiles.
constexpr int64_t attention_parts(int64_t rows, int64_t value_size, int64_t splits) {
  return splits > 1 ? rows * splits * (round_up(value_size, 4) + 2) : 0;
}
/// Where only a run tells how many queries there are: up to so many of a head, and of all heads, are few, and so many blocks share keys at most.
inline constexpr int64_t kFewQueries = 4, kFewRows = 128, kMostSplits = 16;

}  // namespace onnxc::contract::gpu
