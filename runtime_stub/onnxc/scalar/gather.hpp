// Gather, as ONNX defines it.
#pragma once
#include "../base.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

struct GatherParams {
  int64_t axis = 0;
};

/// y[a, j, b] = x[a, indices[j], b], where a and b run over the axes before and after `axis`. A negative index counts
/// from the end; one outside [-n, n) gives ONNXC_INDEX_OUT_OF_RANGE.
template <class T, class I>
Status gather(Tensor<T> y, Tensor<const T> x, Tensor<const I> indices, GatherParams params) {
  const int axis = static_cast<int>(params.axis);
  const int64_t outer = x.shape.count(0, axis), n = x.shape[axis], inner = x.shape.count(axis + 1, x.shape.rank), count = indices.count();
  for (int64_t j = 0; j < count; ++j) {
    if (indices.data[j] < -n || indices.data[j] >= n) return {ONNXC_INDEX_OUT_OF_RANGE};
  }
  T* to = y.data;
  for (int64_t a = 0; a < outer; ++a) {  // writes y in its order
    const T* const from = x.data + a * n * inner;
    for (int64_t j = 0; j < count; ++j) {
      const int64_t given = static_cast<int64_t>(indices.data[j]), index = given < 0 ? given + n : given;
      for (int64_t b = 0; b < inner; ++b) *to++ = from[index * inner + b];
    }
  }
  return {};
}

}  // namespace onnxc::scalar
