// EyeLike and Range, as ONNX defines them.
#pragma once
#include "../base.hpp"
#include "../fn.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

/// y[i, j] = 1 where j - i == k, else 0. A share has some elements of y.
template <class T>
ONNXC_ANYWHERE void eye_like(Tensor<T> y, int64_t k, Share share = {}) {
  const auto [first, last] = share.slice(y.count());
  if (first >= last) return;
  int64_t i = first / y.shape[1], j = first % y.shape[1];
  for (int64_t at = first; at < last; ++at) {
    y.data[at] = fn::cast<T>(static_cast<uint8_t>(j - i == k));
    if (++j < y.shape[1]) continue;
    j = 0;
    ++i;
  }
}

/// y[i] = start + i * delta. Integers wrap; small floats are computed in float and rounded once. A share has some elements of y.
template <class T>
ONNXC_ANYWHERE void range(Tensor<T> y, Tensor<const T> start, Tensor<const T> delta, Share share = {}) {
  const auto [begin, end] = share.slice(y.count());
  if constexpr (small_float<T>) {
    const float first = static_cast<float>(start.data[0]), step = static_cast<float>(delta.data[0]);
    for (int64_t i = begin; i < end; ++i) y.data[i] = T(first + static_cast<float>(i) * step);
  } else {
    for (int64_t i = begin; i < end; ++i) y.data[i] = fn::add(start.data[0], fn::mul(static_cast<T>(i), delta.data[0]));
  }
}

}  // namespace onnxc::scalar
