// Trilu, as ONNX defines it.
#pragma once
#include "../base.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

/// y[b, i, j] = x[b, i, j] where j - i >= k (upper) or j - i <= k (lower), else 0. Without k it is 0. y may be x's memory. A
/// share has some elements of y.
template <class T>
ONNXC_ANYWHERE void trilu(Tensor<T> y, Tensor<const T> x, Tensor<const int64_t> k, bool upper, Share share = {}) {
  const int rank = x.shape.rank;
  const int64_t rows = x.shape[rank - 2], columns = x.shape[rank - 1];
  const int64_t diagonal = k.data == nullptr ? 0 : k.data[0];
  const auto [first, last] = share.slice(x.count());
  if (first >= last) return;
  int64_t i = first / columns % rows, begin = first % columns;
  for (int64_t at = first; at < last; begin = 0) {
    const int64_t end = min_of(columns, begin + last - at);
    for (int64_t j = begin; j < end; ++j, ++at) y.data[at] = (upper ? j - i >= diagonal : j - i <= diagonal) ? x.data[at] : T{};
    i = i + 1 < rows ? i + 1 : 0;
  }
}

}  // namespace onnxc::scalar
