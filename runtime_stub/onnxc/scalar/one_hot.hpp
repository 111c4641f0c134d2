// OneHot, as ONNX defines it.
#pragma once
#include "../base.hpp"
#include "../fn.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

/// y[a, d, b] = d == indices[a, b] ? values[1] : values[0], with d on `axis` of y. An index in [-depth, 0) counts from the end; one outside
/// [-depth, depth) is nowhere. Indices may be of any numeric type; they are cast to integers.
template <class T, class I>
void one_hot(Tensor<T> y, Tensor<const I> indices, Tensor<const T> values, int64_t axis) {
  const int a = static_cast<int>(axis);
  const int64_t outer = y.shape.count(0, a), depth = y.shape[a], inner = y.shape.count(a + 1, y.shape.rank);
  const T off = values.data[0], on = values.data[1];
  const int64_t count = y.count();
  for (int64_t i = 0; i < count; ++i) y.data[i] = off;
  for (int64_t p = 0; p < outer; ++p) {
    for (int64_t s = 0; s < inner; ++s) {
      const int64_t given = fn::cast<int64_t>(indices.data[p * inner + s]), index = given < 0 ? given + depth : given;
      if (index >= 0 && index < depth) y.data[(p * depth + index) * inner + s] = on;
    }
  }
}

}  // namespace onnxc::scalar
