// EyeLike and Range, as ONNX defines them.
#pragma once
#include "../base.hpp"
#include "../fn.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

/// y[i, j] = 1 where j - i == k, else 0.
template <class T>
void eye_like(Tensor<T> y, int64_t k) {
  for (int64_t i = 0; i < y.shape[0]; ++i) {
    for (int64_t j = 0; j < y.shape[1]; ++j) y.data[i * y.shape[1] + j] = fn::cast<T>(static_cast<uint8_t>(j - i == k));
  }
}

/// y[i] = start + i * delta. Integers wrap; small floats are computed in float and rounded once.
template <class T>
void range(Tensor<T> y, Tensor<const T> start, Tensor<const T> delta) {
  const int64_t n = y.count();
  if constexpr (small_float<T>) {
    const float first = static_cast<float>(start.data[0]), step = static_cast<float>(delta.data[0]);
    for (int64_t i = 0; i < n; ++i) y.data[i] = T(first + static_cast<float>(i) * step);
  } else {
    for (int64_t i = 0; i < n; ++i) y.data[i] = fn::add(start.data[0], fn::mul(static_cast<T>(i), delta.data[0]));
  }
}

}  // namespace onnxc::scalar
