// OneHot, as ONNX defines it.
#pragma once
#include "../base.hpp"
#include "../fn.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

/// y[a, d, b] = d == indices[a, b] ? values[1] : values[0], with d on `axis` of y. An index in [-depth, 0) counts from the end; one outside
/// [-depth, depth) is nowhere. Indices may be of any numeric type; they are cast to integers. A share has some
/// elements of y.
template <class T, class I>
ONNXC_ANYWHERE void one_hot(Tensor<T> y, Tensor<const I> indices, Tensor<const T> values, int64_t axis, Share share = {}) {
  const int a = static_cast<int>(axis);
  const int64_t depth = y.shape[a], inner = y.shape.count(a + 1, y.shape.rank);
  const T off = values.data[0], on = values.data[1];
  const auto [first, last] = share.slice(y.count());
  for (int64_t i = first; i < last; ++i) y.data[i] = off;
  if (first >= last) return;
  const int64_t lines = min_of(inner, last - first);  // of each p: those that this share has something of
  for (int64_t p = first / inner / depth; p * depth * inner < last; ++p) {
    for (int64_t line = 0, s = first % inner; line < lines; ++line, s = s + 1 < inner ? s + 1 : 0) {
      const int64_t given = fn::cast<int64_t>(indices.data[p * inner + s]), index = given < 0 ? given + depth : given;
      const int64_t at = (p * depth + index) * inner + s;
      if (index >= 0 && index < depth && at >= first && at < last) y.data[at] = on;
    }
  }
}

}  // namespace onnxc::scalar
