// SVMRegressor and SVMClassifier as ONNX Runtime computes them.
#pragma once
#include "scores.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

enum class SvmKernel { linear, poly, rbf, sigmoid };

struct Svm {
  SvmKernel kernel = SvmKernel::linear;
  float gamma = 0, coef0 = 0, degree = 0;
  const float* vectors = nullptr;  ///< [vector_count, features]
  int64_t vector_count = 0;        ///< 0: linear, with a row of coefficients for each score
  const float* coefficients = nullptr;
  const float* rho = nullptr;
};

ONNXC_ANYWHERE inline float svm_kernel(const Svm& svm, const float* a, const float* b, int64_t n) {
  float sum = 0;
  if (svm.kernel == SvmKernel::rbf) {
    for (int64_t i = 0; i < n; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return std::exp(-svm.gamma * sum);
  }
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  if (svm.kernel == SvmKernel::poly) return std::pow(svm.gamma * sum + svm.coef0, svm.degree);
  return svm.kernel == SvmKernel::sigmoid ? std::tanh(svm.gamma * sum + svm.coef0) : sum;
}

/// y[row, 0] for x [rows, features]. With one_class it is the sign, as 1 or -1. A share has some of the rows.
ONNXC_ANYWHERE inline void svm_regressor(Tensor<float> y, Tensor<const float> x, Svm svm, bool one_class, Share share = {}) {
  const int64_t n = x.shape[1];
  const auto [begin, end] = share.slice(x.shape[0]);
  for (int64_t row = begin; row < end; ++row) {
    const float* const from = x.data + row * n;
    float sum = svm.rho[0];
    for (int64_t k = 0; k < svm.vector_count; ++k) sum += svm.coefficients[k] * svm_kernel(svm, from, svm.vectors + k * n, n);
    for (int64_t i = 0; svm.vector_count == 0 && i < n; ++i) sum += svm.coefficients[i] * from[i];
    y.data[row] = !one_class ? sum : sum > 0 ? 1.0f : -1.0f;
  }
}

struct SvmClasses {
  int64_t classes = 1;
  const int64_t* vectors_of = nullptr;  ///< vectors of each class, in its order
  const float* prob_a = nullptr;        ///< with prob_b, of each pair of classes: scores become probabilities
  const float* prob_b = nullptr;
  PostTransform post = PostTransform::none;
  bool positive = false;  ///< no coefficient is less than 0
};

/// Finds p[i] such that r[i, j] are as close as can be to p[i] / (p[i] + p[j]): Wu, Lin and Weng's second approach, as
/// in libsvm. q: room for k * k + k.
ONNXC_ANYWHERE inline void pairwise_probabilities(int64_t k, const float* r, float* q, float* p) {
  float* const qp = q + k * k;
  for (int64_t t = 0; t < k; ++t) {
    p[t] = 1.0f / static_cast<float>(k);
    q[t * k + t] = 0;
    for (int64_t j = 0; j < k; ++j) {
      if (j == t) continue;
      q[t * k + t] += r[j * k + t] * r[j * k + t];
      q[t * k + j] = j < t ? q[j * k + t] : -r[j * k + t] * r[t * k + j];
    }
  }
  const float eps = 0.005f / static_cast<float>(k);
  for (int64_t iteration = 0; iteration < (k > 100 ? k : 100); ++iteration) {
    float pqp = 0, worst = 0;
    for (int64_t t = 0; t < k; ++t) {
      qp[t] = 0;
      for (int64_t j = 0; j < k; ++j) qp[t] += q[t * k + j] * p[j];
      pqp += p[t] * qp[t];
    }
    for (int64_t t = 0; t < k; ++t) {
      const float error = std::abs(qp[t] - pqp);
      worst = error > worst ? error : worst;
    }
    if (worst < eps) return;
    for (int64_t t = 0; t < k; ++t) {
      const float diff = (-qp[t] + pqp) / q[t * k + t];
      p[t] += diff;
      pqp = (pqp + diff * (diff * q[t * k + t] + 2 * qp[t])) / (1 + diff) / (1 + diff);
      for (int64_t j = 0; j < k; ++j) {
        qp[j] = (qp[j] + diff * q[t * k + j]) / (1 + diff);
        p[j] /= 1 + diff;
      }
    }
  }
}

/// The class with most votes of pairs of classes. scores: of the pairs, in order. With prob_a they become probabilities of the
/// classes. room: 2 * classes * classes + 2 * classes elements.
ONNXC_ANYWHERE inline int64_t decide_by_pairs(const SvmClasses& p, float* scores, float* room) {
  const int64_t k = p.classes;
  float *const votes = room, *const matrix = votes + k;
  int64_t best = 0;
  for (int64_t i = 0; i < k; ++i) votes[i] = 0;
  for (int64_t i = 0, index = 0; i < k; ++i) {
    for (int64_t j = i + 1; j < k; ++j) votes[scores[index++] > 0 ? i : j] += 1;
  }
  for (int64_t i = 1; i < k; ++i) best = votes[i] > votes[best] ? i : best;
  if (p.prob_a == nullptr) return best;
  for (int64_t i = 0, index = 0; i < k; ++i) {
    for (int64_t j = i + 1; j < k; ++j, ++index) {
      float probability = 1 - logistic_of(scores[index] * p.prob_a[index] + p.prob_b[index]);
      probability = probability < 1e-7f ? 1e-7f : probability > 1 - 1e-7f ? 1 - 1e-7f : probability;
      matrix[i * k + j] = probability;
      matrix[j * k + i] = 1 - probability;
    }
  }
  pairwise_probabilities(k, matrix, matrix + k * k, scores);
  return best;
}

/// z: `count` transformed scores, or two of one for two classes.
ONNXC_ANYWHERE inline void finish_scores(const SvmClasses& p, float* scores, int64_t count, float* z) {
  if (count == 1 && p.classes == 2) {
    const float score = scores[0];
    if (p.post == PostTransform::probit) {
      z[0] = probit_of(score);
      z[1] = probit_of(1 - score);
    } else {
      two_scores(p.post, p.post == PostTransform::none ? SecondClass::opposite : SecondClass::complement, score, z);
    }
    return;
  }
  if (count > 1 || p.post == PostTransform::probit) post_transform(p.post, scores, count);
  for (int64_t i = 0; i < count; ++i) z[i] = scores[i];
}

/// classes[row] is the number of the class. y[row, ...] has for each class a score (linear) or a probability, or else
/// for each pair of classes a score, of which two classes get two. A share has some of the rows; room: vector_count + 4 *
/// classes * classes + 4 * classes elements of its own.
ONNXC_ANYWHERE inline void svm_classifier(Tensor<float> y, int64_t* classes, Tensor<const float> x, Svm svm, SvmClasses p, float* room,
                                          Share share = {}) {
  const int64_t n = x.shape[1], k = p.classes;
  float* const kernels = room;
  float* const scores = kernels + svm.vector_count;
  const auto [begin, end] = share.slice(x.shape[0]);
  for (int64_t row = begin; row < end; ++row) {
    const float* const from = x.data + row * n;
    int64_t count = 0, best = 0;
    if (svm.vector_count == 0) {
      for (; count < k; ++count) {
        scores[count] = svm.rho[0];
        for (int64_t i = 0; i < n; ++i) scores[count] += svm.coefficients[count * n + i] * from[i];
        if (scores[count] > scores[best]) best = count;
      }
      const float most = scores[best];
      if (k == 2 && (p.positive ? most >= 0.5f : most > 0)) best = 1;
    } else {
      for (int64_t v = 0; v < svm.vector_count; ++v) kernels[v] = svm_kernel(svm, from, svm.vectors + v * n, n);
      for (int64_t i = 0, first_i = 0; i < k; first_i += p.vectors_of[i++]) {
        for (int64_t j = i + 1, first_j = first_i + p.vectors_of[i]; j < k; first_j += p.vectors_of[j++]) {
          float sum = 0;
          for (int64_t v = first_i; v < first_i + p.vectors_of[i]; ++v)
            sum += svm.coefficients[(j - 1) * svm.vector_count + v] * kernels[v];
          for (int64_t v = first_j; v < first_j + p.vectors_of[j]; ++v) sum += svm.coefficients[i * svm.vector_count + v] * kernels[v];
          sum += svm.rho[count];
          scores[count++] = sum;
        }
      }
      best = decide_by_pairs(p, scores, scores + k * k);
      if (p.prob_a != nullptr) count = k;
    }
    classes[row] = best;
    finish_scores(p, scores, count, y.data + row * y.shape[1]);
  }
}

}  // namespace onnxc::scalar
