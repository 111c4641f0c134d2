// ArgMax, ArgMin and Hardmax: where the extreme element of an axis is. NaN is more extreme than every number, as in
// numpy: the first (or last) NaN wins.
#pragma once
#include "../base.hpp"
#include "../fn.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

struct ArgParams {
  int64_t outer = 1, n = 1, inner = 1;  ///< x is seen as [outer, n, inner]
  bool least = false;                   ///< the smallest instead of the largest
  bool last = false;                    ///< the last of equal ones instead of the first
};

/// Index on the middle axis for element (p, s); n > 0.
template <class T>
constexpr int64_t extreme_at(const T* x, const ArgParams& params) {
  int64_t best = 0;
  const auto beats = [&](T a, T b) {  // a, of a later index, over b
    if constexpr (fn::floating<T> || small_float<T>) {
      const bool a_nan = fn::is_nan(a), b_nan = fn::is_nan(b);
      if (a_nan || b_nan) return a_nan && (!b_nan || params.last);
    }
    if constexpr (small_float<T>) {
      const float u = static_cast<float>(a), v = static_cast<float>(b);
      return params.least ? u < v || (params.last && u == v) : v < u || (params.last && u == v);
    } else {
      return params.least ? a < b || (params.last && a == b) : b < a || (params.last && a == b);
    }
  };
  for (int64_t i = 1; i < params.n; ++i) {
    if (beats(x[i * params.inner], x[best * params.inner])) best = i;
  }
  return best;
}

/// y[p, s] = index of the extreme of x[p, :, s]. An empty axis has none: ONNXC_BAD_DIMENSION. A
/// share has some of the lines (p, s).
template <class T>
ONNXC_ANYWHERE Status arg_max(int64_t* y, const T* x, ArgParams params, Share share = {}) {
  if (params.n == 0 && params.outer * params.inner != 0) return {ONNXC_BAD_DIMENSION};
  const auto [first, last] = share.slice(params.outer * params.inner);
  if (first >= last) return {};
  int64_t p = first / params.inner, s = first % params.inner;
  for (int64_t line = first; line < last; ++line) {
    y[line] = extreme_at(x + p * params.n * params.inner + s, params);
    if (++s < params.inner) continue;
    s = 0;
    ++p;
  }
  return {};
}

/// y[p, i, s] = 1 where i is the index of the first largest of x[p, :, s], else 0. y may be x's memory. A
/// share has some of the lines (p, s).
template <class T>
ONNXC_ANYWHERE void hardmax(T* y, const T* x, ArgParams params, Share share = {}) {
  const auto [first, last] = share.slice(params.outer * params.inner);
  if (params.n == 0 || first >= last) return;
  int64_t p = first / params.inner, s = first % params.inner;
  for (int64_t line = first; line < last; ++line) {
    const int64_t start = p * params.n * params.inner + s, best = extreme_at(x + start, params);
    for (int64_t i = 0; i < params.n; ++i) y[start + i * params.inner] = fn::cast<T>(static_cast<uint8_t>(i == best));
    if (++s < params.inner) continue;
    s = 0;
    ++p;
  }
}

}  // namespace onnxc::scalar
