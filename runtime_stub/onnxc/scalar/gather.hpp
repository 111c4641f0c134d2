// Gather, as ONNX defines it.
#pragma once
#include "../base.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

struct GatherParams {
  int64_t axis = 0;
};

/// y[a, j, b] = x[a, indices[j], b], where a and b run over the axes before and after `axis`. A negative index counts
/// from the end; one outside [-n, n) gives ONNXC_INDEX_OUT_OF_RANGE. A share has some elements of y, and checks as many
/// of the indices again, since an empty y reads none.
template <class T, class I>
ONNXC_ANYWHERE Status gather(Tensor<T> y, Tensor<const T> x, Tensor<const I> indices, GatherParams params, Share share = {}) {
  const int axis = static_cast<int>(params.axis);
  const int64_t outer = x.shape.count(0, axis), n = x.shape[axis], inner = x.shape.count(axis + 1, x.shape.rank), count = indices.count();
  const auto checked = share.slice(count);
  for (int64_t j = checked.begin; j < checked.end; ++j) {
    if (indices.data[j] < -n || indices.data[j] >= n) return {ONNXC_INDEX_OUT_OF_RANGE};
  }
  const auto [first, last] = share.slice(outer * count * inner);
  if (first >= last) return {};
  int64_t a = first / inner / count, j = first / inner % count, b = first % inner;
  T* to = y.data + first;
  for (int64_t left = last - first; left > 0; b = 0) {  // writes y in its order
    const int64_t given = static_cast<int64_t>(indices.data[j]), index = given < 0 ? given + n : given;
    if (index < 0 || index >= n) return {ONNXC_INDEX_OUT_OF_RANGE};
    const T* const from = x.data + (a * n + index) * inner + b;
    const int64_t run = min_of(inner - b, left);
    for (int64_t i = 0; i < run; ++i) *to++ = from[i];
    left -= run;
    if (++j < count) continue;
    j = 0;
    ++a;
  }
  return {};
}

}  // namespace onnxc::scalar
