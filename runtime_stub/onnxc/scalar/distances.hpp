// Distances between the rows of two matrices: com.microsoft's CDist.
#pragma once
#include <cmath>

#include "../base.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

enum class Metric { sqeuclidean, euclidean, cityblock, chebyshev };

/// y[i, j]: the distance of x[i] and v[j], for x [rows, n] and v [vectors, n]. NaN where either row has one. A share
/// has some elements of y.
ONNXC_ANYWHERE inline void distances(Tensor<float> y, Tensor<const float> x, Tensor<const float> v, Metric metric, Share share = {}) {
  const int64_t n = x.shape[1], vectors = v.shape[0];
  const auto [first, last] = share.slice(x.shape[0] * vectors);
  for (int64_t at = first; at < last; ++at) {
    const int64_t i = at / vectors, j = at % vectors;
    float sum = 0;
    for (int64_t c = 0; c < n; ++c) {
      const float d = x.data[i * n + c] - v.data[j * n + c], magnitude = std::abs(d);
      if (metric == Metric::chebyshev) sum = sum >= magnitude || sum != sum ? sum : magnitude;
      else sum += metric == Metric::cityblock ? magnitude : d * d;
    }
    y.data[at] = metric == Metric::euclidean ? std::sqrt(sum) : sum;
  }
}

}  // namespace onnxc::scalar
