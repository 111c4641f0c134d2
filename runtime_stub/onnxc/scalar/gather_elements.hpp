// GatherElements and GatherND, as ONNX defines them.
#pragma once
#include "../base.hpp"
#include "position.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

/// y[i_0, ..., i_k, ...] = x[i_0, ..., indices[i], ...] with the index on `axis`; y has the shape of the indices. A
/// negative index counts from the end. One outside of [-n, n) gives ONNXC_INDEX_OUT_OF_RANGE, indices wider than x on
/// another axis give ONNXC_BAD_DIMENSION. A share has some elements of y.
template <class T, class I>
ONNXC_ANYWHERE Status gather_elements(Tensor<T> y, Tensor<const T> x, Tensor<const I> indices, int64_t axis, Share share = {}) {
  const int rank = x.shape.rank;
  const int64_t count = indices.count(), n = x.shape[static_cast<int>(axis)];
  for (int k = 0; k < rank; ++k) {
    if (k != axis && count != 0 && indices.shape[k] > x.shape[k]) return {ONNXC_BAD_DIMENSION};
  }
  const auto [first, last] = share.slice(count);
  Position at{indices.shape};
  at.go_to(first < last ? first : 0);
  for (int64_t i = first; i < last; ++i, at.next()) {
    const int64_t given = static_cast<int64_t>(indices.data[i]), index = given < 0 ? given + n : given;
    if (index < 0 || index >= n) return {ONNXC_INDEX_OUT_OF_RANGE};
    int64_t from = 0;
    for (int k = 0; k < rank; ++k) from = from * x.shape[k] + (k == axis ? index : at[k]);
    y.data[i] = x.data[from];
  }
  return {};
}

/// y[b, j, s] = x[b, indices[b, j, 0], ..., indices[b, j, m - 1], s]: b runs over the first `batch_axes` axes, s over
/// the axes that the m indices leave of x. Negative indices count from the end; one out of range gives
/// ONNXC_INDEX_OUT_OF_RANGE. A share has some elements of y.
template <class T, class I>
ONNXC_ANYWHERE Status gather_nd(Tensor<T> y, Tensor<const T> x, Tensor<const I> indices, int64_t batch_axes, Share share = {}) {
  const int batch_rank = static_cast<int>(batch_axes), inner = indices.shape.rank - 1, width = static_cast<int>(indices.shape[inner]);
  const int64_t batches = x.shape.count(0, batch_rank), tuples = indices.shape.count(batch_rank, inner);
  const int64_t block = x.shape.count(batch_rank, x.shape.rank), slice = x.shape.count(batch_rank + width, x.shape.rank);
  const int64_t places = max_of(slice, 1);  // the indices of nothing are checked, too
  const auto [first, last] = share.slice(batches * tuples * places);
  if (first >= last) return {};
  int64_t b = first / places / tuples, j = first / places % tuples, s = first % places;
  for (int64_t left = last - first; left > 0; s = 0) {
    const I* const index = indices.data + (b * tuples + j) * width;
    int64_t at = 0;
    for (int k = 0; k < width; ++k) {
      const int64_t n = x.shape[batch_rank + k], given = static_cast<int64_t>(index[k]), i = given < 0 ? given + n : given;
      if (i < 0 || i >= n) return {ONNXC_INDEX_OUT_OF_RANGE};
      at = at * n + i;
    }
    const int64_t run = min_of(places - s, left);
    const T* const from = x.data + b * block + at * slice + s;
    T* const to = y.data + (b * tuples + j) * slice + s;
    for (int64_t i = 0; i < run && slice > 0; ++i) to[i] = from[i];
    left -= run;
    if (++j < tuples) continue;
    j = 0;
    ++b;
  }
  return {};
}

}  // namespace onnxc::scalar
