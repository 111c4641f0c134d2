// Layer and root-mean-square normalisation over the last axis, in place if wished.
//
//   layer_norm(share, x, y, {.rows = 128, .n = 384, .x_row = 384, .y_row = 384, .epsilon = 1e-5f, .scale = w, .bias = b},
//              Epilogue<AddResidual, Rows<float>>{{residual, 384}});
//
// y[r][i] = (v - mean) / sqrt(variance + epsilon) * scale[i] + bias[i], v = prologue(x[r][i]): a residual, addressed by
// (row, column) like an epilogue. rms_norm: v / sqrt(mean of v^2 + epsilon) * scale[i]. scale and bias: n values or
// null. The variance is that of v - mean, in two passes over a row in L1, so nothing cancels. `values`, where given,
// receives v, with which a skip connection goes on.
#pragma once
#include "passed.hpp"
#include "softmax.hpp"

namespace onnxc::inline ONNXC_ISA {

struct NormParams {
  int64_t rows, n;
  int64_t x_row, y_row;
  float epsilon = 1e-5f;
  const float* scale = nullptr;
  const float* bias = nullptr;
  float* values = nullptr;  // pitch y_row
  float* mean = nullptr;    // one for each row, or null
  float* inverse_deviation = nullptr;
};

namespace detail {

/// Writes v to `y` and returns its sum.
template <class Pro>
ONNXC_INLINE float norm_values(const float* x, float* y, int64_t row, int64_t n, const Pro& prologue) {
  struct Value {
    const float* x;
    float* y;
    int64_t row;
    const Pro& prologue;
    ONNXC_INLINE Vec operator()(int64_t i) const {
      finish_vector(prologue, Vec::load(x + i), row, i, y + i);
      return Vec::load(y + i);
    }
    ONNXC_INLINE Vec operator()(int64_t i, int64_t lanes) const {
      finish_vector(prologue, Vec::load(x + i, lanes), row, i, y + i, lanes);
      return Vec::load(y + i, lanes);
    }
  };
  return reduce_row<Sum>(n, Value{x, y, row, prologue});
}

ONNXC_INLINE float sum_of_squares(const float* y, int64_t n, float mean) {
  struct Value {
    const float* y;
    Vec mean;
    ONNXC_INLINE Vec operator()(int64_t i) const { return square(Vec::load(y + i) - mean); }
    ONNXC_INLINE Vec operator()(int64_t i, int64_t lanes) const { return square(Vec::load(y + i, lanes) - mean); }
    static ONNXC_INLINE Vec square(Vec d) { return d * d; }
  };
  return reduce_row<Sum>(n, Value{y, Vec::all(mean)});
}

/// y = (v - mean) * factor * scale + bias
ONNXC_INLINE void normalise(const float* v, float* y, const NormParams& p, Vec mean, Vec factor) {
  auto at = [&](int64_t i, auto... lanes) ONNXC_INLINE_LAMBDA {
    Vec d = (Vec::load(v + i, lanes...) - mean) * factor;
    if (p.scale != nullptr) d = d * Vec::load(p.scale + i, lanes...);
    if (p.bias != nullptr) d = d + Vec::load(p.bias + i, lanes...);
    d.store(y + i, lanes...);
  };
  int64_t i = 0;
  for (; i + Vec::width <= p.n; i += Vec::width) at(i);
  if (i < p.n) at(i, p.n - i);
}

template <bool centred, class Pro>
ONNXC_INLINE void norm(Share share, const float* x, float* y, const NormParams& p, const Pro& prologue) {
  const auto [first, last] = share.slice(p.rows);
  const float over_n = 1.0f / static_cast<float>(p.n);
  for (int64_t row = first; row < last; ++row) {
    float* const out = y + row * p.y_row;
    float* const v = p.values != nullptr ? p.values + row * p.y_row : out;
    const float total = norm_values(x + row * p.x_row, v, row, p.n, prologue), mean = centred ? total * over_n : 0.0f;
    const float deviation = fn::sqrt(sum_of_squares(v, p.n, mean) * over_n + p.epsilon);
    normalise(v, out, p, Vec::all(mean), Vec::all(1.0f / deviation));
    if (p.mean != nullptr) p.mean[row] = mean;
    if (p.inverse_deviation != nullptr) p.inverse_deviation[row] = 1.0f / deviation;
  }
}

}  // namespace detail

template <class Pro = Epilogue<Keep>>
void layer_norm(Share share, const float* x, float* y, Passed<NormParams> p, Pro prologue = {}) {
  detail::norm<true>(share, x, y, p, prologue);
}
template <class Pro = Epilogue<Keep>>
void rms_norm(Share share, const float* x, float* y, Passed<NormParams> p, Pro prologue = {}) {
  detail::norm<false>(share, x, y, p, prologue);
}

}  // namespace onnxc
