// Distances of rows to constant vectors, by register tiles: pairwise.hpp.
#pragma once
#include <type_traits>

#include "pairwise.hpp"
#include "scalar/distances.hpp"

namespace onnxc::inline ONNXC_ISA {

/// y[i, j] as scalar::distances computes it from x [rows, n] and constant vectors, of which `panels` holds as many as y
/// has columns: pack::panels with contract::pairwise_columns, 64-byte aligned. y may not overlap x.
template <scalar::Metric metric>
void distances(Share share, Tensor<float> y, Tensor<const float> x, const float* panels) {
  using scalar::Metric;
  using Term = std::conditional_t<metric == Metric::cityblock, MagnitudeTerm,
                                  std::conditional_t<metric == Metric::chebyshev, GreatestTerm, SquareTerm>>;
  const int64_t n = x.shape[1], vectors = y.shape[1];
  const auto [begin, end] = share.slice(x.shape[0], detail::kPairwiseTile);
  float* const to = y.data + begin * vectors;
  detail::for_each_pair<Term>(x.data + begin * n, end - begin, n, panels, vectors,
                              [&](int64_t row, int64_t column, Vec sum) ONNXC_INLINE_LAMBDA {
                                const Vec distance = metric == Metric::euclidean ? sqrt(sum) : sum;
                                const int64_t left = vectors - column;
                                if (left >= Vec::width) distance.store(to + row * vectors + column);
                                else if (left > 0) distance.store(to + row * vectors + column, left);
                              });
}

}  // namespace onnxc::inline ONNXC_ISA
