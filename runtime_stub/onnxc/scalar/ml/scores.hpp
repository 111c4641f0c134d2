// How the operators of ai.onnx.ml turn sums into scores: post_transform, and the second score of a classifier that
// computes only one. ONNX says little about it; this is what ONNX Runtime does.
#pragma once
#include <cmath>

#include "../../base.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

enum class PostTransform { none, softmax, logistic, softmax_zero, probit };

template <class T>
ONNXC_ANYWHERE T logistic_of(T x) {
  const T v = T(1) / (T(1) + std::exp(-std::abs(x)));
  return x < T(0) ? T(1) - v : v;
}

/// sqrt(2) erfinv(2x - 1), by Winitzki's approximation.
template <class T>
ONNXC_ANYWHERE T probit_of(T p) {
  const T centred = T(2) * p - T(1), log = std::log((T(1) - centred) * (T(1) + centred));
  const T v = T(2) / (T(3.14159f) * T(0.147f)) + T(0.5f) * log, v2 = T(1) / T(0.147f) * log;
  const T root = std::sqrt(-v + std::sqrt(v * v - v2));
  return T(1.41421356f) * (centred < T(0) ? -root : root);
}

/// Transforms n scores in place. softmax_zero leaves zeros as they are.
template <class T>
ONNXC_ANYWHERE void post_transform(PostTransform transform, T* z, int64_t n) {
  switch (transform) {
    case PostTransform::none: return;
    case PostTransform::logistic:
      for (int64_t i = 0; i < n; ++i) z[i] = logistic_of(z[i]);
      return;
    case PostTransform::probit:
      for (int64_t i = 0; i < n; ++i) z[i] = probit_of(z[i]);
      return;
    case PostTransform::softmax:
    case PostTransform::softmax_zero: break;
  }
  const bool keeps_zeros = transform == PostTransform::softmax_zero;
  if (n <= 0) return;
  T most = z[0], sum = 0;
  for (int64_t i = 1; i < n; ++i) most = z[i] > most ? z[i] : most;
  const T scale = std::exp(-most);
  for (int64_t i = 0; i < n; ++i) {
    const bool is_zero = !(z[i] > T(0.0000001f) || z[i] < T(-0.0000001f));
    if (keeps_zeros && is_zero) {
      z[i] *= scale;
    } else {
      z[i] = std::exp(z[i] - most);
      sum += z[i];
    }
  }
  for (int64_t i = 0; i < n; ++i) z[i] /= sum;
}

/// The two scores of a classifier that has computed one.
enum class SecondClass { none, complement, opposite };

/// Makes z[0, 1] from `score`.
template <class T>
ONNXC_ANYWHERE void two_scores(PostTransform transform, SecondClass second, T score, T* z) {
  if (transform == PostTransform::probit) {
    z[0] = probit_of(score);
  } else if (second == SecondClass::none) {
    z[0] = score;
  } else if (transform == PostTransform::logistic) {
    z[0] = logistic_of(-score);
    z[1] = logistic_of(score);
  } else {
    z[0] = second == SecondClass::complement ? T(1) - score : -score;
    z[1] = score;
  }
}

struct ScoreParams {
  PostTransform post = PostTransform::none;
};

/// Transforms each row of x [rows, columns] to y, which may be the same memory. A single column is transformed only by
/// probit. A share has some of the rows.
ONNXC_ANYWHERE inline void transform_rows(Tensor<float> y, Tensor<const float> x, ScoreParams params, Share share = {}) {
  const int64_t n = x.shape[1];
  const auto [begin, end] = share.slice(x.shape[0]);
  for (int64_t row = begin; row < end; ++row) {
    float* const z = y.data + row * n;
    for (int64_t i = 0; i < n; ++i) z[i] = x.data[row * n + i];
    if (n > 1 || params.post == PostTransform::probit) post_transform(params.post, z, n);
  }
}

/// classes[row]: where x[row] is largest. A share has some of the rows.
ONNXC_ANYWHERE inline void best_class(int64_t* classes, Tensor<const float> x, Share share = {}) {
  const int64_t n = x.shape[1];
  const auto [begin, end] = share.slice(x.shape[0]);
  const float* from = x.data + begin * n;
  for (int64_t row = begin; row < end; ++row, from += n) {
    float most = from[0];
    int64_t best = 0;
    for (int64_t i = 1; i < n; ++i) {
      const bool more = from[i] > most;
      most = more ? from[i] : most;
      best = more ? i : best;
    }
    classes[row] = best;
  }
}

/// classes[row]: where x[row] is largest; y[row]: x[row] transformed. Where x has one column, it is the score of the
/// second of two classes. A share has some of the rows.
ONNXC_ANYWHERE inline void class_scores(Tensor<float> y, int64_t* classes, Tensor<const float> x, ScoreParams params, Share share = {}) {
  const int64_t n = x.shape[1];
  const auto [begin, end] = share.slice(x.shape[0]);
  for (int64_t row = begin; row < end; ++row) {
    const float* const from = x.data + row * n;
    float* const z = y.data + row * y.shape[1];
    if (n == 1) {
      classes[row] = from[0] > 0 ? 1 : 0;
      if (params.post == PostTransform::probit) {
        z[0] = probit_of(1 - from[0]);
        z[1] = probit_of(from[0]);
      } else {
        two_scores(params.post, SecondClass::complement, from[0], z);
      }
      continue;
    }
    classes[row] = 0;
    for (int64_t i = 0; i < n; ++i) {
      if (from[i] > from[classes[row]]) classes[row] = i;
      z[i] = from[i];
    }
    post_transform(params.post, z, n);
  }
}

}  // namespace onnxc::scalar
