// Layer and root-mean-square normalisation, as ONNX defines them.
#pragma once
#include "../fn.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

template <class T>
struct NormParams {
  int64_t rows, n;
  double epsilon = 1e-5;
  const T* scale = nullptr;  // n values, or null
  const T* bias = nullptr;
  T* mean = nullptr;  // one for each row, or null
  T* inverse_deviation = nullptr;
};

namespace detail {
template <bool centred, class T>
ONNXC_ANYWHERE void norm(Share share, const T* x, T* y, const NormParams<T>& p) {
  const auto [first, last] = share.slice(p.rows);
  for (int64_t row = first; row < last; ++row) {
    const T* const v = x + row * p.n;
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < p.n && centred; ++i) mean += static_cast<double>(v[i]);
    mean /= static_cast<double>(p.n);
    if (!centred) mean = 0;
    for (int64_t i = 0; i < p.n; ++i) {
      const double d = static_cast<double>(v[i]) - mean;
      squares += d * d;
    }
    const double inverse = 1 / std::sqrt(squares / static_cast<double>(p.n) + p.epsilon);
    for (int64_t i = 0; i < p.n; ++i) {
      const double d = (static_cast<double>(v[i]) - mean) * inverse * (p.scale != nullptr ? static_cast<double>(p.scale[i]) : 1);
      y[row * p.n + i] = static_cast<T>(d + (p.bias != nullptr ? static_cast<double>(p.bias[i]) : 0));
    }
    if (p.mean != nullptr) p.mean[row] = static_cast<T>(mean);
    if (p.inverse_deviation != nullptr) p.inverse_deviation[row] = static_cast<T>(inverse);
  }
}
}  // namespace detail

/// y[r][i] = (x[r][i] - mean) / sqrt(variance + epsilon) * scale[i] + bias[i] over rows of n values without gaps; mean
/// and variance are those of the row. T is float or double; computed in double, rounded once. In place if wished.
template <class T>
ONNXC_ANYWHERE void layer_norm(Share share, const T* x, T* y, NormParams<T> p) {
  detail::norm<true>(share, x, y, p);
}
/// y[r][i] = x[r][i] / sqrt(mean of x^2 + epsilon) * scale[i] + bias[i].
template <class T>
ONNXC_ANYWHERE void rms_norm(Share share, const T* x, T* y, NormParams<T> p) {
  detail::norm<false>(share, x, y, p);
}

}  // namespace onnxc::inline ONNXC_ISA::scalar
