// Support vector machines. The kernel's values of some rows, for all vectors, are computed by register tiles (pairwise.hpp).
// Then their sums are taken with the coefficients, and each row ends as in scalar/ml/svm.hpp.
#pragma once
#include "pairwise.hpp"
#include "scalar/ml/svm.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {

/// x^degree. A whole degree up to 16 takes products, whose error is at most that many roundings.
ONNXC_INLINE Vec svm_power(Vec x, float degree) {
  if (!(degree >= 1 && degree <= 16 && degree == static_cast<float>(static_cast<int>(degree)))) return fn::pow(x, Vec::all(degree));
  Vec power = x;
  for (int i = 1; i < static_cast<int>(degree); ++i) power = power * x;
  return power;
}

template <scalar::SvmKernel kernel>
ONNXC_INLINE Vec svm_value(const scalar::Svm& svm, Vec sum) {
  using scalar::SvmKernel;
  if constexpr (kernel == SvmKernel::linear) return sum;
  const Vec gamma = Vec::all(svm.gamma);
  if constexpr (kernel == SvmKernel::rbf) return fn::exp(-gamma * sum);
  const Vec inner = fma(gamma, sum, Vec::all(svm.coef0));
  if constexpr (kernel == SvmKernel::poly) return svm_power(inner, svm.degree);
  return fn::tanh(inner);
}

/// sums[i] = sum of weights[v] values[i * pitch + v] over v in [0, n), for R rows.
template <int R>
ONNXC_INLINE void weigh_rows(const float* values, int64_t pitch, const float* weights, int64_t n, float* sums, int64_t sums_pitch) {
  Vec acc[R];
  ONNXC_UNROLL for (int i = 0; i < R; ++i) acc[i] = Vec::all(0.0f);
  int64_t v = 0;
  for (; v + Vec::width <= n; v += Vec::width) {
    const Vec w = Vec::load(weights + v);
    ONNXC_UNROLL for (int i = 0; i < R; ++i) acc[i] = fma(w, Vec::load(values + i * pitch + v), acc[i]);
  }
  if (v < n) {
    const Vec w = Vec::load(weights + v, n - v);
    ONNXC_UNROLL for (int i = 0; i < R; ++i) acc[i] = fma(w, Vec::load(values + i * pitch + v, n - v), acc[i]);
  }
  ONNXC_UNROLL for (int i = 0; i < R; ++i) sums[i * sums_pitch] = sum(acc[i]);
}
/// The same for any number of rows.
inline void weigh(const float* values, int64_t pitch, int64_t rows, const float* weights, int64_t n, float* sums, int64_t sums_pitch) {
  int64_t i = 0;
  for (; i + 4 <= rows; i += 4) weigh_rows<4>(values + i * pitch, pitch, weights, n, sums + i * sums_pitch, sums_pitch);
  for (; i < rows; ++i) weigh_rows<1>(values + i * pitch, pitch, weights, n, sums + i * sums_pitch, sums_pitch);
}

/// visit(first, rows, values) for the blocks of the share's rows, with values[rows][pairwise_pitch] in `room`.
template <scalar::SvmKernel kernel, class Visit>
ONNXC_INLINE void for_svm_rows(Share share, Tensor<const float> x, const scalar::Svm& svm, float* room, const Visit& visit) {
  using Term = std::conditional_t<kernel == scalar::SvmKernel::rbf, SquareTerm, ProductTerm>;
  const int64_t n = x.shape[1], pitch = contract::pairwise_pitch(svm.vector_count, Vec::width),
                block = contract::pairwise_rows(svm.vector_count, Vec::width);
  const auto [begin, end] = share.slice(x.shape[0], kPairwiseTile);
  for (int64_t first = begin; first < end; first += block) {
    const int64_t rows = end - first < block ? end - first : block;
    for_each_pair<Term>(x.data + first * n, rows, n, svm.vectors, svm.vector_count,
                        [&](int64_t row, int64_t column, Vec sum)
                            ONNXC_INLINE_LAMBDA { svm_value<kernel>(svm, sum).store(room + row * pitch + column); });
    visit(first, rows, room);
  }
}

}  // namespace detail

/// y as by scalar::svm_regressor. svm.vectors are panels: pack::panels of a matrix whose columns they are, with
/// contract::pairwise_columns, 64-byte aligned; vector_count is greater than 0. scratch: contract::svm_regressor_scratch
/// floats, of this share.
template <scalar::SvmKernel kernel>
void svm_regressor(Share share, Tensor<float> y, Tensor<const float> x, scalar::Svm svm, bool one_class, float* scratch) {
  const int64_t pitch = contract::pairwise_pitch(svm.vector_count, Vec::width);
  float* const sums = scratch + contract::pairwise_rows(svm.vector_count, Vec::width) * pitch;
  detail::for_svm_rows<kernel>(share, x, svm, scratch, [&](int64_t first, int64_t rows, const float* values) {
    detail::weigh(values, pitch, rows, svm.coefficients, svm.vector_count, sums, 1);
    for (int64_t i = 0; i < rows; ++i) {
      const float sum = sums[i] + svm.rho[0];
      y.data[first + i] = !one_class ? sum : sum > 0 ? 1.0f : -1.0f;
    }
  });
}

/// y and classes as by scalar::svm_classifier; svm as for svm_regressor. scratch: contract::svm_classifier_scratch floats, of
/// this share.
template <scalar::SvmKernel kernel>
void svm_classifier(Share share, Tensor<float> y, int64_t* classes, Tensor<const float> x, scalar::Svm svm, scalar::SvmClasses p,
                    float* scratch) {
  const int64_t k = p.classes, pitch = contract::pairwise_pitch(svm.vector_count, Vec::width), sums_pitch = contract::svm_sums(k);
  const int64_t block = contract::pairwise_rows(svm.vector_count, Vec::width), scores = p.prob_a != nullptr ? k : k * (k - 1) / 2;
  float *const sums = scratch + block * pitch, *const pairs = sums + block * sums_pitch, *const room = pairs + k * k;
  detail::for_svm_rows<kernel>(share, x, svm, scratch, [&](int64_t first, int64_t rows, const float* values) {
    // sums[row][i][j]: of the vectors of class i, by their j-th coefficients, which are those against the j-th other class.
    for (int64_t i = 0, vector = 0; i < k; vector += p.vectors_of[i++]) {
      for (int64_t j = 0; j < k - 1; ++j)
        detail::weigh(values + vector, pitch, rows, svm.coefficients + j * svm.vector_count + vector, p.vectors_of[i],
                      sums + i * (k - 1) + j, sums_pitch);
    }
    for (int64_t row = 0; row < rows; ++row) {
      const float* const sum = sums + row * sums_pitch;
      for (int64_t i = 0, index = 0; i < k; ++i) {
        for (int64_t j = i + 1; j < k; ++j, ++index) pairs[index] = sum[i * (k - 1) + j - 1] + sum[j * (k - 1) + i] + svm.rho[index];
      }
      classes[first + row] = scalar::decide_by_pairs(p, pairs, room);
      scalar::finish_scores(p, pairs, scores, y.data + (first + row) * y.shape[1]);
    }
  });
}

}  // namespace onnxc::inline ONNXC_ISA
