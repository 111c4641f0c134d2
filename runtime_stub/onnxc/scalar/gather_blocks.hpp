// Rows of a table of 8, 4 or 2 bits in blocks: com.microsoft's GatherBlockQuantized along the first of two axes.
#pragma once
#include "matmul_nbits.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

struct GatherBlocksParams {
  int64_t rows, k, block, count;
};

/// y[i, s] = (table[indices[i], s] - zero[indices[i], s / block]) * scale[indices[i], s / block], i < count, s < k. table [rows, k] of Bits bits,
/// the first of a byte in its lowest bits, rows of whole bytes; scales [rows, blocks] with blocks = ceil(k / block); zeros packed
/// [rows, ceil(blocks * Bits / 8)], or nullptr for the middle of the range. A negative index counts from the end; one outside [-rows, rows) gives 0s.
template <int Bits, class Zeros, class I>
ONNXC_ANYWHERE void gather_blocks(Share share, float* y, const uint8_t* table, const float* scales, Zeros zeros, const I* indices,
                                  GatherBlocksParams p) {
  const int64_t blocks = (p.k + p.block - 1) / p.block;
  const auto [first, last] = share.slice(p.count);
  for (int64_t i = first; i < last; ++i) {
    const int64_t given = static_cast<int64_t>(indices[i]), row = given < 0 ? given + p.rows : given;
    const bool is_inside = row >= 0 && row < p.rows;
    const uint8_t* const codes = table + (is_inside ? row : 0) * (p.k * Bits / 8);
    for (int64_t s = 0; s < p.k; ++s) {
      const int64_t number = s / p.block;
      y[i * p.k + s] = is_inside
                           ? (static_cast<float>(detail::packed_code<Bits>(codes, s)) - detail::zero_of<Bits>(zeros, row, number, blocks)) *
                                 scales[row * blocks + number]
                           : 0.0f;
    }
  }
}

}  // namespace onnxc::scalar
