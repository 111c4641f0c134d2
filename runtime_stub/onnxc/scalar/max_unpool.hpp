// MaxUnpool, as ONNX defines it.
#pragma once
#include "../base.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

/// y is zero but for y[p] = x[i], where indices[i] counts p row-major in a tensor of extents `unpooled`, whose origin y
/// shares. An index outside of it, or a place outside of y, gives ONNXC_INDEX_OUT_OF_RANGE. Of equal indices the last
/// counts.
template <class T>
ONNXC_ANYWHERE Status max_unpool(Tensor<T> y, Tensor<const T> x, const int64_t* indices, Shape unpooled) {
  const int64_t total = unpooled.count(), count = x.count(), zeros = y.count();
  for (int64_t i = 0; i < zeros; ++i) y.data[i] = T{};
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = indices[i], at = 0, step = 1;
    if (rest < 0 || rest >= total) return {ONNXC_INDEX_OUT_OF_RANGE};
    for (int axis = unpooled.rank - 1; axis >= 0; --axis) {
      const int64_t position = rest % unpooled[axis];
      rest /= unpooled[axis];
      if (position >= y.shape[axis]) return {ONNXC_INDEX_OUT_OF_RANGE};
      at += position * step;
      step *= y.shape[axis];
    }
    y.data[at] = x.data[i];
  }
  return {};
}

}  // namespace onnxc::scalar
