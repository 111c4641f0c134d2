// Inverse: of a batch of square matrices.
#pragma once
#include "../base.hpp"
#include "../fn.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

/// y[b] = inverse of the n x n matrix x[b], by Gauss-Jordan elimination with row pivots, in double; infinities and NaN
/// where it is singular. y may be x's memory. A share has some of the matrices; scratch: 2 n^2 numbers of its own.
template <class T>
ONNXC_ANYWHERE void inverse(T* y, const T* x, double* scratch, int64_t batches, int64_t n, Share share = {}) {
  double *const a = scratch, *const e = scratch + n * n;
  const auto [first, last] = share.slice(batches);
  for (int64_t b = first; b < last; ++b) {
    for (int64_t i = 0; i < n * n; ++i) {
      a[i] = fn::cast<double>(x[b * n * n + i]);
      e[i] = i / n == i % n ? 1 : 0;
    }
    for (int64_t c = 0; c < n; ++c) {
      int64_t pivot = c;
      for (int64_t r = c + 1; r < n; ++r) {
        if (fn::abs(a[r * n + c]) > fn::abs(a[pivot * n + c])) pivot = r;
      }
      const double p = a[pivot * n + c];
      for (int64_t j = 0; j < n; ++j) {  // the pivot's row comes to c, divided by the pivot
        const double kept_a = a[c * n + j], kept_e = e[c * n + j];
        a[c * n + j] = a[pivot * n + j] / p;
        e[c * n + j] = e[pivot * n + j] / p;
        if (pivot == c) continue;
        a[pivot * n + j] = kept_a;
        e[pivot * n + j] = kept_e;
      }
      for (int64_t r = 0; r < n; ++r) {
        const double factor = a[r * n + c];
        for (int64_t j = 0; j < n && r != c; ++j) {
          a[r * n + j] -= factor * a[c * n + j];
          e[r * n + j] -= factor * e[c * n + j];
        }
      }
    }
    for (int64_t i = 0; i < n * n; ++i) y[b * n * n + i] = fn::cast<T>(e[i]);
  }
}

}  // namespace onnxc::scalar
