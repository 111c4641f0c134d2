// Normalizer of ai.onnx.ml.
#pragma once
#include <cmath>

#include "../../base.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

enum class RowNorm { max, l1, l2 };

/// Divides each of `rows` rows of x by its largest element, the sum of its magnitudes, or its Euclidean length, unless
/// that is 0. y may be x.
inline void normalizer(float* y, const float* x, int64_t rows, int64_t columns, RowNorm norm) {
  for (int64_t row = 0; row < rows; ++row, x += columns, y += columns) {
    float sum = norm == RowNorm::max && columns > 0 ? x[0] : 0;
    for (int64_t i = 0; i < columns; ++i) {
      if (norm == RowNorm::max) sum = x[i] > sum ? x[i] : sum;
      else sum += norm == RowNorm::l1 ? std::abs(x[i]) : x[i] * x[i];
    }
    if (norm == RowNorm::l2) sum = std::sqrt(sum);
    for (int64_t i = 0; i < columns; ++i) y[i] = sum != 0 ? x[i] / sum : x[i];
  }
}

}  // namespace onnxc::scalar
