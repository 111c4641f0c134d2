// Distances of rows to constant vectors, by register tiles: pairwise.hpp.
#pragma once
#include <type_traits>

#include "pairwise.hpp"
#include "scalar/distances.hpp"
#include "top_k.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {
/// finish(row, column, distance) as for_each_pair.
template <scalar::Metric metric, class Finish>
ONNXC_INLINE void for_each_distance(const float* x, int64_t rows, int64_t n, const float* panels, int64_t vectors, const Finish& finish) {
  using scalar::Metric;
  using Term = std::conditional_t<metric == Metric::cityblock, MagnitudeTerm,
                                  std::conditional_t<metric == Metric::chebyshev, GreatestTerm, SquareTerm>>;
  for_each_pair<Term>(x, rows, n, panels, vectors, [&](int64_t row, int64_t column, Vec sum) ONNXC_INLINE_LAMBDA {
    finish(row, column, metric == Metric::euclidean ? sqrt(sum) : sum);
  });
}
}  // namespace detail

/// y[i, j] as scalar::distances computes it from x [rows, n] and constant vectors, of which `panels` holds as many as y
/// has columns: pack::panels with contract::pairwise_columns, 64-byte aligned. y may not overlap x.
template <scalar::Metric metric>
void distances(Share share, Tensor<float> y, Tensor<const float> x, const float* panels) {
  const int64_t n = x.shape[1], vectors = y.shape[1];
  const auto [begin, end] = share.slice(x.shape[0], detail::kPairwiseTile);
  float* const to = y.data + begin * vectors;
  detail::for_each_distance<metric>(x.data + begin * n, end - begin, n, panels, vectors,
                                    [&](int64_t row, int64_t column, Vec distance) ONNXC_INLINE_LAMBDA {
                                      const int64_t left = vectors - column;
                                      if (left >= Vec::width) distance.store(to + row * vectors + column);
                                      else if (left > 0) distance.store(to + row * vectors + column, left);
                                    });
}

/// The k least distances of each row, or the largest, with the numbers of the vectors: `distances`, then `top_k` of its result, a block
/// of rows at a time. k is the extent of values [rows, k] and at most `vectors`. scratch: contract::nearest_scratch floats, of this
/// share.
template <scalar::Metric metric, bool largest>
void nearest(Share share, Tensor<float> values, Tensor<int64_t> indices, Tensor<const float> x, const float* panels, int64_t vectors,
             float* scratch) {
  const int64_t n = x.shape[1], k = values.shape[1], pitch = contract::pairwise_pitch(vectors, Vec::width),
                block = contract::pairwise_rows(vectors, Vec::width);
  // A root is only taken of what may be among the best.
  constexpr scalar::Metric before = metric == scalar::Metric::euclidean ? scalar::Metric::sqeuclidean : metric;
  using Rank = std::conditional_t<metric == scalar::Metric::euclidean, detail::RankByRoot, detail::RankAsIs>;
  if (k <= 0) return;
  const auto [begin, end] = share.slice(x.shape[0], detail::kPairwiseTile);
  for (int64_t first = begin; first < end; first += block) {
    const int64_t rows = end - first < block ? end - first : block;
    detail::for_each_distance<before>(x.data + first * n, rows, n, panels, vectors,
                                      [&](int64_t row, int64_t column, Vec distance)
                                          ONNXC_INLINE_LAMBDA { distance.store(scratch + row * pitch + column); });
    for (int64_t row = 0; row < rows; ++row)
      detail::top_row<largest, Rank>(scratch + row * pitch, vectors, k, values.data + (first + row) * k, indices.data + (first + row) * k);
  }
}

}  // namespace onnxc::inline ONNXC_ISA
