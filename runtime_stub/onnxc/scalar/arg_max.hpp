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

/// y[p, s] = index of the extreme of x[p, :, s]. An empty axis has none: ONNXC_BAD_DIMENSION.
template <class T>
Status arg_max(int64_t* y, const T* x, ArgParams params) {
  if (params.n == 0 && params.outer * params.inner != 0) return {ONNXC_BAD_DIMENSION};
  for (int64_t p = 0; p < params.outer; ++p) {
    for (int64_t s = 0; s < params.inner; ++s) y[p * params.inner + s] = extreme_at(x + p * params.n * params.inner + s, params);
  }
  return {};
}

/// y[p, i, s] = 1 where i is the index of the first largest of x[p, :, s], else 0. y may be x's memory.
template <class T>
void hardmax(T* y, const T* x, ArgParams params) {
  if (params.n == 0) return;
  for (int64_t p = 0; p < params.outer; ++p) {
    for (int64_t s = 0; s < params.inner; ++s) {
      const int64_t start = p * params.n * params.inner + s, best = extreme_at(x + start, params);
      for (int64_t i = 0; i < params.n; ++i) y[start + i * params.inner] = fn::cast<T>(static_cast<uint8_t>(i == best));
    }
  }
}

}  // namespace onnxc::scalar
