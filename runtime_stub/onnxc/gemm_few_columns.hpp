// c[m, N] = epilogue(bias + a[m, k] b[k, N]) for a few columns N, as in the last layer of many
// classifiers and of all regressors. Vectors run along k, because columns would leave most lanes of a panel empty.
//
//   gemm_few_columns<1>(share, a, w, y, {.m = 1000, .n = 1, .k = 64, .lda = 64, .ldc = 1}, Epilogue<Sigmoid>{});
//
// b packed: [ceil(k / Vec::width)][N][Vec::width], 64-byte aligned, zeros beyond k. Each value is the sum of Vec::width
// chains of multiply-adds.
#pragma once
#include "gemm.hpp"
#include "passed.hpp"

namespace onnxc::inline ONNXC_ISA {

template <int N, class Epi = Epilogue<Keep>>
void gemm_few_columns(Share share, const float* a, const float* b, float* c, Passed<GemmParams> p, Epi epi = {}) {
  constexpr int kRows = N == 1 ? 8 : 4;
  const auto [first, last] = share.slice(p.m, kRows);
  for (int64_t row = first; row < last; row += kRows) {
    const float* rows[kRows];
    Vec acc[kRows][N];
    ONNXC_UNROLL for (int i = 0; i < kRows; ++i) {
      rows[i] = a + (row + i < last ? row + i : last - 1) * p.lda;
      ONNXC_UNROLL for (int j = 0; j < N; ++j) acc[i][j] = Vec::all(0.0f);
    }
    const auto add = [&](int64_t k, auto value) ONNXC_INLINE_LAMBDA {
      Vec w[N];
      ONNXC_UNROLL for (int j = 0; j < N; ++j) w[j] = Vec::load(b + k * N + j * Vec::width);
      ONNXC_UNROLL for (int i = 0; i < kRows; ++i) {
        const Vec x = value(rows[i] + k);
        ONNXC_UNROLL for (int j = 0; j < N; ++j) acc[i][j] = fma(x, w[j], acc[i][j]);
      }
    };
    int64_t k = 0;
    for (; k + Vec::width <= p.k; k += Vec::width) add(k, [](const float* x) ONNXC_INLINE_LAMBDA { return Vec::load(x); });
    if (k < p.k) add(k, [lanes = p.k - k](const float* x) ONNXC_INLINE_LAMBDA { return Vec::load(x, lanes); });
    float sums[kRows * N];
    ONNXC_UNROLL for (int i = 0; i < kRows; ++i) {
      ONNXC_UNROLL for (int j = 0; j < N; ++j) sums[i * N + j] = (p.bias != nullptr ? p.bias[j] : 0.0f) + sum(acc[i][j]);
    }
    const int64_t count = row + kRows < last ? kRows : last - row;
    if (std::is_empty_v<Epi> && p.ldc == N) {  // no operand tells a row from a column
      finish_row(epi, sums, row, 0, c + row * N, count * N);
      continue;
    }
    for (int64_t i = 0; i < count; ++i) finish_row(epi, sums + i * N, row + i, 0, c + (row + i) * p.ldc, N);
  }
}

}  // namespace onnxc
