// gemm by one level of Strassen's product in Winograd's form: 7 products of half the size in each direction instead of 8.
//
//   strassen<8, 4>(part, a, w, y, sums, {.m = 128, .n = 1152, .k = 384, .lda = 384, .ldc = 1152}, 128);
//
//     a = A11 A12    S1 = A21 + A22    b = B11 B12    T1 = B12 - B11    U = A11 B11           V = S1 T1
//         A21 A22    S2 = S1 - A11         B21 B22    T2 = B22 - T1     C11 = U + A12 B21     C12 = U + V + S4 B22
//                    S3 = A11 - A21                   T3 = B22 - B12    U = U + S2 T2         C22 = U + V
//                    S4 = A12 - S2                    T4 = B21 - T2     U = U + S3 T3         C21 = U + A22 T4
//
// (C12 takes U before S3 T3, C22 after.) T is made at compile time, in double, S at run time for a block of rows; U and V are panels of half a block that
// stay near. b packed: [ceil(n / 2 NR)][B11 B21 T2 T1 B22 T3 T4][k / 2][NR] (pack::strassen), in order of use: 7/4 of its size; the second half of the
// columns starts at a whole panel. k is even. Blocks of `block` rows, the last of which may have fewer, depend on nothing but the call, so that each value is the
// same for any number of threads. sums: strassen_scratch floats of this part, 64-byte aligned.
//
// Time against gemm's best tile, weights from beyond L2 (Zen 4, g++ 12, 2026-11):
//
//   m x n x k    128x384x1536  128x384x384  196x256x1024  784x128x512  784x768x192  3136x384x96  196x384x64  49x512x2048
//                        0.89         0.93          0.92         0.94         0.92         0.95        0.98         1.00
//
// Values are added that the product keeps apart: an error is one of the largest value in a block, not in a row, 2.2 to 2.9 times gemm's (root mean square, random
// values, all or positive ones; k from 64 to 1536); an infinity or NaN in one row spreads to the block's. References: V. Strassen 1969; S. Winograd 1971.
#pragma once
#include "gemm.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {

constexpr int64_t strassen_pitch(int64_t k) { return (k / 2 + 15) / 16 * 16 + 16; }

/// One of the seven products: what its panel of b is multiplied by, what the sums start from, where they are kept, and the quarter of c that they become.
struct StrassenProduct {
  enum class Rows { A11, A12, A22, Sum } rows;
  enum class Start { Zero, U, UAndV } start;
  enum class Keep { No, U, V } keep;
  enum class Quarter { No, C11, C12, C21, C22 } quarter;

  constexpr bool lower() const { return quarter == Quarter::C21 || quarter == Quarter::C22; }
  constexpr bool right() const { return quarter == Quarter::C12 || quarter == Quarter::C22; }
};
inline constexpr StrassenProduct kStrassenProducts[7] = {
    {StrassenProduct::Rows::A11, StrassenProduct::Start::Zero, StrassenProduct::Keep::U, StrassenProduct::Quarter::No},
    {StrassenProduct::Rows::A12, StrassenProduct::Start::U, StrassenProduct::Keep::No, StrassenProduct::Quarter::C11},
    {StrassenProduct::Rows::Sum, StrassenProduct::Start::U, StrassenProduct::Keep::U, StrassenProduct::Quarter::No},
    {StrassenProduct::Rows::Sum, StrassenProduct::Start::Zero, StrassenProduct::Keep::V, StrassenProduct::Quarter::No},
    {StrassenProduct::Rows::Sum, StrassenProduct::Start::UAndV, StrassenProduct::Keep::No, StrassenProduct::Quarter::C12},
    {StrassenProduct::Rows::Sum, StrassenProduct::Start::U, StrassenProduct::Keep::U, StrassenProduct::Quarter::C22},  // and V
    {StrassenProduct::Rows::A22, StrassenProduct::Start::U, StrassenProduct::Keep::No, StrassenProduct::Quarter::C21},
};

/// S2, S1, S4, S3 of a block of `rows` rows: planes of its upper half's rows. Of an odd number of rows the last is also the one that is missing below.
ONNXC_INLINE void strassen_sums(const float* a, int64_t lda, int64_t rows, int64_t depth, float* sums, int64_t pitch) {
  const int64_t upper = (rows + 1) / 2, plane = upper * pitch;
  for (int64_t i = 0; i < upper; ++i) {
    const float* const top = a + i * lda;
    const float* const bottom = a + (upper + i < rows ? upper + i : rows - 1) * lda;
    const auto sum = [&](int64_t k, auto... lanes) ONNXC_INLINE_LAMBDA {
      const Vec a11 = Vec::load(top + k, lanes...), a21 = Vec::load(bottom + k, lanes...);
      const Vec s1 = a21 + Vec::load(bottom + depth + k, lanes...), s2 = s1 - a11;
      float* const s = sums + i * pitch + k;
      s2.store(s);
      s1.store(s + plane);
      (Vec::load(top + depth + k, lanes...) - s2).store(s + 2 * plane);
      (a11 - a21).store(s + 3 * plane);
    };
    int64_t k = 0;
    for (; k + Vec::width <= depth; k += Vec::width) sum(k);
    if (k < depth) sum(k, depth - k);
  }
}

/// `rows` rows, the first of which is row `row` of c and at `a`, through pairs of panels [first, last) of `pairs`.
template <int MR, int NV, class Epi>
ONNXC_INLINE void strassen_block(int64_t row, int64_t rows, int64_t first, int64_t last, int64_t pairs, const float* a, const float* b, float* c, float* sums,
                                 const GemmParams& p, const Epi& epi) {
  using Product = StrassenProduct;
  constexpr int NR = NV * Vec::width;
  const int64_t upper = (rows + 1) / 2, depth = p.k / 2, pitch = strassen_pitch(p.k), plane = upper * pitch;
  float* const u = sums + 4 * plane;
  float* const v = u + upper * NR;
  Ahead ahead(b + pairs * 7 * depth * NR, p.weights_end);
  strassen_sums(a, p.lda, rows, depth, sums, pitch);
  for (int64_t pair = first; pair < last; ++pair) {
    const float* sum = sums;
    for (int64_t number = 0; number < 7; ++number) {
      const StrassenProduct product = kStrassenProducts[number];
      const float* const bp = b + (pair * 7 + number) * depth * NR;
      const int64_t col = (product.right() ? pairs + pair : pair) * NR;
      const bool is_sum = product.rows == Product::Rows::Sum, finishes = product.quarter != Product::Quarter::No && col < p.n;
      const int64_t lda = is_sum ? pitch : p.lda, done = product.lower() ? rows - upper : upper, count = product.rows == Product::Rows::A22 ? done : upper;
      const float* const from = is_sum ? sum : a + (product.rows == Product::Rows::A22 ? upper * p.lda : 0) + (product.rows == Product::Rows::A11 ? 0 : depth);
      if (is_sum) sum += plane;
      if (!finishes && product.keep == Product::Keep::No) continue;
      ahead.move(bp + depth * NR, depth, NR * int64_t{sizeof(float)} * MR / upper);
      const auto multiply = [&]<int R>(const auto& rows_of_a, int64_t i) ONNXC_INLINE_LAMBDA {
        const auto in = [&](float* panel) { return [=](int64_t r) { return panel + (i + r < upper ? i + r : upper - 1) * NR; }; };
        Tile<R, NV> tile;
        if (product.start == Product::Start::Zero) tile.start(kZeros);
        else tile.load(in(u));
        if (product.start == Product::Start::UAndV) tile.plus(in(v));
        tile.add(rows_of_a, depth, bp, ahead);
        ahead.advance(depth);
        if (product.keep != Product::Keep::No) tile.store(in(product.keep == Product::Keep::U ? u : v), upper - i);
        if (!finishes) return;
        if (product.quarter == Product::Quarter::C22) tile.plus(in(v));
        if (p.bias != nullptr) tile.plus([&](int64_t) { return p.bias + col; });
        tile.finish(c, p.ldc, col, done - i, p.n - col, Consecutive{row + (product.lower() ? upper : 0) + i}, epi);
      };
      for_each_tile<MR>(from, lda, count, multiply);
    }
  }
}

}  // namespace detail

/// Floats of scratch for one part.
template <int NV>
constexpr int64_t strassen_scratch(int64_t k, int64_t block) {
  return (block + 1) / 2 * (4 * detail::strassen_pitch(k) + 2 * NV * Vec::width);
}

/// See the head of the file. a must not overlap c; operands of the epilogue may be c itself.
template <int MR, int NV, class Epi = Epilogue<Keep>>
ONNXC_ONE_COPY void strassen(Part part, const float* a, const float* b, float* c, float* sums, GemmParams p, int64_t block, Epi epi = {}) {
  constexpr int NR = NV * Vec::width;
  const int64_t pairs = (p.n + 2 * NR - 1) / (2 * NR), blocks = (p.m + block - 1) / block;
  const auto [first, last] = part.slice(blocks * pairs);  // of the pairs of panels of all blocks
  for (int64_t at = first; at < last;) {
    const int64_t row = at / pairs * block, pair = at % pairs, until = pair + last - at < pairs ? pair + last - at : pairs;
    detail::strassen_block<MR, NV>(row, p.m - row < block ? p.m - row : block, pair, until, pairs, a + row * p.lda, b, c, sums, p, epi);
    at += until - pair;
  }
}

}  // namespace onnxc
