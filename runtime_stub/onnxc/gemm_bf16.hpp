// c[m, n] = epilogue(bias + a[m, k] b[k, n]), with a and b rounded to bfloat16 and sums of floats: gemm.hpp with two steps of k in each lane, by the
// dot products of AVX512_BF16.
//
//   gemm_bf16<8, 2>(share, a, w, y, scratch, {.m = 128, .n = 384, .k = 384, .lda = 384, .ldc = 384, .bias = w_bias}, Epilogue<Relu>{});
//
// b packed: [ceil(n / NR)][ceil(k / 2)][NR] pairs of rows 2 s and 2 s + 1, 64-byte aligned, zeros beyond n and k (compiler/select/weights/pack.h).
// a is of floats; each block of rows becomes pairs in `scratch` before it is multiplied: contract::bf16_scratch floats of this share, 64-byte
// aligned. Slices are counted in pairs. The order of sums is the same whatever the tile, the slices or the number of threads.
#pragma once
#include "contract/gemm.hpp"
#include "gemm.hpp"
#include "vec_bf16.hpp"

#if defined(__AVX512BF16__) && defined(__AVX512F__) && !defined(ONNXC_NO_INTRINSICS)
namespace onnxc::inline ONNXC_ISA {

namespace detail {

/// Rounds `rows` rows of k floats, lda from one to the next, to rows of `pitch` pairs, the last one with a zero where k is odd.
ONNXC_INLINE void round_rows(const float* a, int64_t lda, int64_t rows, int64_t k, float* words, int64_t pitch) {
  constexpr int64_t kWide = 2 * Vec::width;
  for (int64_t row = 0; row < rows; ++row, a += lda, words += pitch) {
    int64_t i = 0;
    for (; i + kWide <= k; i += kWide) pairs_of(Vec::load(a + i), Vec::load(a + i + Vec::width)).store(words + i / 2);
    if (i == k) continue;
    const int64_t left = k - i, first = left < Vec::width ? left : Vec::width;
    pairs_of(Vec::load(a + i, first), Vec::load(a + i + first, left - first)).store(words + i / 2, (left + 1) / 2);
  }
}

}  // namespace detail

/// See the head of the file. a must not overlap c; operands of the epilogue may be c itself.
template <int MR, int NV, class Epi = Epilogue<Keep>>
void gemm_bf16(Share share, const float* a, const bfloat16* b, float* c, float* scratch, Passed<GemmParams> p, Epi epi = {}) {
  constexpr int NR = Tile<MR, NV>::NR;
  const int64_t pairs = contract::bf16_pairs(p.k);
  GemmParams of_pairs = p;
  of_pairs.k = pairs;
  const detail::ProductShare own(share, p.m, p.n, pairs, MR, (p.n + NR - 1) / NR);
  const TileOrder order(share, p.m * p.n);
  const auto* const weights = reinterpret_cast<const BfloatPair*>(b);
  const int64_t block = detail::even_block(own.rows.end - own.rows.begin, p.slices.block(detail::block_rows(pairs, MR)));
  of_pairs.lda = pairs;
  detail::for_each_block(own.rows, block, [&](int64_t row, int64_t rows) ONNXC_INLINE_LAMBDA {
    detail::round_rows(a + row * p.lda, p.lda, rows, p.k, scratch, pairs);
    detail::gemm_block<MR, NV>(row, rows, own.panels.begin, own.panels.end, scratch, weights, c, p.slices.sums, of_pairs, order, epi);
  });
}

/// gemm_bf16 for a number of rows that is known only at run time: up to four rows take a small tile.
template <int MR, int NV, class Epi = Epilogue<Keep>>
void gemm_bf16_any(Share share, const float* a, const bfloat16* b, float* c, float* scratch, Passed<GemmParams> p, Epi epi = {}) {
  if (p.m <= 4) return gemm_bf16<4, NV>(share, a, b, c, scratch, p, epi);
  gemm_bf16<MR, NV>(share, a, b, c, scratch, p, epi);
}

}  // namespace onnxc::inline ONNXC_ISA
#endif
