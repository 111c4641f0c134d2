// Normalizer of ai.onnx.ml by the largest element.
#pragma once
#include "../../base.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

/// Divides each of `rows` rows of x by its largest element, unless that is 0. y may be x. A share has some of the
/// rows.
ONNXC_ANYWHERE inline void normalizer(float* y, const float* x, int64_t rows, int64_t columns, Share share = {}) {
  const auto [first, last] = share.slice(rows);
  x += first * columns;
  y += first * columns;
  for (int64_t row = first; row < last; ++row, x += columns, y += columns) {
    float most = columns > 0 ? x[0] : 0;
    for (int64_t i = 1; i < columns; ++i) most = x[i] > most ? x[i] : most;
    for (int64_t i = 0; i < columns; ++i) y[i] = most != 0 ? x[i] / most : x[i];
  }
}

}  // namespace onnxc::scalar
