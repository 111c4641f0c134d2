// fast_inner_product for a number of rows that is known only at run time. One row takes usual multiply-adds with the
// same weights, as gemv does; a few rows take a low tile.
#pragma once
#include "fast_inner_product.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {

/// The squared norm of x d.
ONNXC_INLINE float squared_norm(const float* x, const float* d, int64_t k) {
  Vec squares = Vec::all(0.0f);
  int64_t i = 0;
  const auto add = [&](Vec value) ONNXC_INLINE_LAMBDA { squares = fma(value, value, squares); };
  for (; i + Vec::width <= k; i += Vec::width) add(Vec::load(x + i) * Vec::load(d + i));
  if (i < k) add(Vec::load(x + i, k - i) * Vec::load(d + i));
  return sum(squares);
}

/// Multiplies one row by NP panels side by side, in three chains of multiply-adds each, of x d and w'. The columns'
/// powers of two come last.
template <int NP, class Epi>
ONNXC_INLINE void multiply_row(const float* x, const float* d, const float* b, float* y, int64_t col, const GemmParams& p, const Epi& epi) {
  const int64_t panel = (p.k + 2) * Vec::width;
  Vec sums[3][NP];
  ONNXC_UNROLL for (Vec(&chain)[NP] : sums) { ONNXC_UNROLL for (Vec& sum : chain) sum = Vec::all(0.0f); }
  const float* w = b;
  contract::for_each_step(p.k, Vec::width, [&](int chain, int64_t i) ONNXC_INLINE_LAMBDA {
    const Vec value = Vec::all(x[i] * d[i]);
    ONNXC_UNROLL for (int j = 0; j < NP; ++j) sums[chain][j] = fma(value, Vec::load(w + j * panel), sums[chain][j]);
    w += Vec::width;
  });
  ONNXC_UNROLL for (int j = 0; j < NP; ++j) {
    const int64_t at = col + j * Vec::width;
    const float* const bj = b + j * panel;
    const float* const bias = p.bias != nullptr ? p.bias + at : kZeros;
    const Vec sum = sums[0][j] + sums[1][j] + sums[2][j];
    Tile<1, 1> tile;
    tile.acc[0][0] = fma(sum, Vec::load(bj + (p.k + 1) * Vec::width), Vec::load(bias));
    tile.finish(y, 0, at, 1, p.n - at, Consecutive{0}, epi);
  }
}

}  // namespace detail

template <int MR, class Epi = Epilogue<Keep>>
void fast_inner_product_any(Share share, const float* a, const float* b, float* c, float* scratch, GemmParams p, int64_t block,
                            Epi epi = {}) {
  if (p.m > 4) return fast_inner_product<MR>(share, a, b, c, scratch, p, block, epi);
  if (p.m > 1) return fast_inner_product<8>(share, a, b, c, scratch, p, block, epi);
  if (p.m == 0) return;
  constexpr int NP = 4;
  const int64_t panels = vectors(p.n), floats = (p.k + 2) * Vec::width;
  const float* const d = b + panels * floats;
  auto [panel, last] = share.slice(panels);
  if (detail::is_unscaled(detail::squared_norm(a, d, p.k), a, p.k)) {
    for (; panel < last; ++panel) {
      const int64_t col = panel * Vec::width;
      Tile<1, 1> tile;
      tile.acc[0][0] = detail::multiply_unscaled(a, d, p.k, b + panel * floats, p.bias != nullptr ? p.bias + col : kZeros);
      tile.finish(c, 0, col, 1, p.n - col, Consecutive{0}, epi);
    }
    return;
  }
  for (; panel + NP <= last; panel += NP) detail::multiply_row<NP>(a, d, b + panel * floats, c, panel * Vec::width, p, epi);
  for (; panel < last; ++panel) detail::multiply_row<1>(a, d, b + panel * floats, c, panel * Vec::width, p, epi);
}

}  // namespace onnxc
