// Trilu, as ONNX defines it.
#pragma once
#include "../base.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

/// y[b, i, j] = x[b, i, j] where j - i >= k (upper) or j - i <= k (lower), else 0. Without k it is 0. y may be x's memory.
template <class T>
void trilu(Tensor<T> y, Tensor<const T> x, Tensor<const int64_t> k, bool upper) {
  const int rank = x.shape.rank;
  const int64_t rows = x.shape[rank - 2], columns = x.shape[rank - 1], batches = x.shape.count(0, rank - 2);
  const int64_t diagonal = k.data == nullptr ? 0 : k.data[0];
  for (int64_t b = 0; b < batches; ++b) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        const int64_t at = (b * rows + i) * columns + j;
        y.data[at] = (upper ? j - i >= diagonal : j - i <= diagonal) ? x.data[at] : T{};
      }
    }
  }
}

}  // namespace onnxc::scalar
