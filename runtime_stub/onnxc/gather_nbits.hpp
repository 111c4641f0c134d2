// Rows of a table of weights of 8, 4 or 2 bits in the panels of gemm_nbits.hpp: embeddings and the head of a language model can be one constant.
//
//   y[i, s] = (code[s, indices[i]] - zero[s / block, indices[i]]) * scale[s / block, indices[i]]      i < count, s < k
//
//   gather_nbits<4, 64, float16, uint8_t>(share, y, table, indices, {.rows = 32000, .k = 2048, .block = 32, .count = 1});
//
// table: a packed matrix [k, rows] with NR columns in a panel; NR = 1 has each row of the table in one piece. S and Z as in gemm_nbits. A negative
// index counts from the end; one outside [-rows, rows) gives zeros. No alignment is needed; y overlaps nothing. A share computes some of the rows.
#pragma once
#include <cstring>

#include "gemm_nbits.hpp"

namespace onnxc::inline ONNXC_ISA {

struct GatherNBitsParams {
  int64_t rows, k, block, count;
};

template <int Bits, int NR, class S, class Z, class I>
void gather_nbits(Share share, float* y, const uint8_t* table, const I* indices, GatherNBitsParams p) {
  constexpr int64_t kPerGroup = 32 / Bits, kZero = detail::kZeroBytes<Z>;
  const auto read = []<class T>(const uint8_t* from) ONNXC_INLINE_LAMBDA {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
  };
  const int64_t stride = contract::nbits_block_bytes(p.block, NR, Bits, sizeof(S), kZero), blocks = (p.k + p.block - 1) / p.block;
  const auto [first, last] = share.slice(p.count);
  for (int64_t i = first; i < last; ++i) {
    const int64_t given = static_cast<int64_t>(indices[i]), row = given < 0 ? given + p.rows : given;
    float* to = y + i * p.k;
    if (row < 0 || row >= p.rows) {
      for (int64_t s = 0; s < p.k; ++s) to[s] = 0;
      continue;
    }
    const int64_t column = row % NR;
    const uint8_t* block_at = table + row / NR * (blocks * stride);
    for (int64_t left = p.k; left > 0; left -= p.block, block_at += stride) {
      const uint8_t* const scales = block_at + contract::nbits_codes(p.block, NR, Bits);
      const float scale = static_cast<float>(read.template operator()<S>(scales + column * int64_t{sizeof(S)}));
      float zero = static_cast<float>(1 << (Bits - 1));
      if constexpr (kZero != 0) zero = static_cast<float>(read.template operator()<Z>(scales + NR * int64_t{sizeof(S)} + column * kZero));
      const int64_t length = left < p.block ? left : p.block;
      for (int64_t s = 0; s < length; s += kPerGroup) {
        const auto group = read.template operator()<uint32_t>(block_at + 4 * (s / kPerGroup * NR + column));
        const int64_t codes = length - s < kPerGroup ? length - s : kPerGroup;
        for (int64_t j = 0; j < codes; ++j)
          *to++ = (static_cast<float>((group >> (Bits * (j / 4) + 8 * (j % 4))) & ((1u << Bits) - 1)) - zero) * scale;
      }
    }
  }
}

}  // namespace onnxc::inline ONNXC_ISA
