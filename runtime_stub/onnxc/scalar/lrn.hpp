// The sums of LRN: local response normalisation across channels.
#pragma once
#include "../base.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

struct WindowParams {
  int64_t outer, c, inner;        ///< x and y as [outer, c, inner], in any order in memory
  int64_t x_outer, x_c, x_inner;  ///< elements between neighbours
  int64_t y_outer, y_c, y_inner;
  int64_t before, after;  ///< channels of the window on either side
};

/// y[o, c, i] = sum of x[o, k, i]^2 over k in [c - before, c + after] within the channels.
template <class T>
ONNXC_ANYWHERE void window_squares(Share share, T* y, const T* x, WindowParams p) {
  const auto [first, last] = share.slice(p.outer * p.c * p.inner);
  if (first >= last) return;
  int64_t o = first / p.inner / p.c, c = first / p.inner % p.c, begin = first % p.inner;
  for (int64_t left = last - first; left > 0; begin = 0) {
    const int64_t low = c - p.before > 0 ? c - p.before : 0, high = c + p.after < p.c - 1 ? c + p.after : p.c - 1;
    const int64_t end = min_of(p.inner, begin + left);
    const T* const from = x + o * p.x_outer;
    T* const to = y + o * p.y_outer + c * p.y_c;
    for (int64_t i = begin; i < end; ++i) {
      T sum = 0;
      for (int64_t k = low; k <= high; ++k) sum += from[k * p.x_c + i * p.x_inner] * from[k * p.x_c + i * p.x_inner];
      to[i * p.y_inner] = sum;
    }
    left -= end - begin;
    if (++c < p.c) continue;
    c = 0;
    ++o;
  }
}

}  // namespace onnxc::inline ONNXC_ISA::scalar
