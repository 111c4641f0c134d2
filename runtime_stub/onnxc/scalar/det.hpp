// Det, as ONNX defines it.
#pragma once
#include "../base.hpp"
#include "../fn.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

/// y[b] = determinant of the n x n matrix x[b], by Gaussian elimination with row pivots, in double. A share
/// has some of the matrices; scratch: n * n numbers of its own.
template <class T>
ONNXC_ANYWHERE void det(T* y, const T* x, double* scratch, int64_t batches, int64_t n, Share share = {}) {
  const auto [first, last] = share.slice(batches);
  for (int64_t b = first; b < last; ++b) {
    for (int64_t i = 0; i < n * n; ++i) scratch[i] = static_cast<double>(x[b * n * n + i]);
    double result = 1;
    for (int64_t c = 0; c < n; ++c) {
      int64_t pivot = c;
      for (int64_t r = c + 1; r < n; ++r) {
        if (fn::abs(scratch[r * n + c]) > fn::abs(scratch[pivot * n + c])) pivot = r;
      }
      const double p = scratch[pivot * n + c];
      result *= p;
      if (p == 0) break;
      if (pivot != c) {
        result = -result;
        for (int64_t j = c; j < n; ++j) {
          const double kept = scratch[c * n + j];
          scratch[c * n + j] = scratch[pivot * n + j];
          scratch[pivot * n + j] = kept;
        }
      }
      for (int64_t r = c + 1; r < n; ++r) {
        const double factor = scratch[r * n + c] / p;
        for (int64_t j = c + 1; j < n; ++j) scratch[r * n + j] -= factor * scratch[c * n + j];
      }
    }
    y[b] = T(result);
  }
}

}  // namespace onnxc::scalar
