// Softmax and its logarithm over the last axis, in place if wished.
//
//   softmax(share, scores, y, {.rows = 1536, .n = 128, .x_row = 128, .y_row = 128}, Epilogue<ScaleMask, Repeat<float>>{{mask, 128, 128}});
//
// y[r][i] = exp(v[i] - max v) / sum exp(v - max v), v = prologue(x[r][i]): a scale, a mask, addressed by (row, column)
// like an epilogue. There are three passes over a row, which stays in L1: prologue and maximum; exp and sum; product
// with 1 / sum. NaN anywhere in a row makes the row NaN, as does a row of -infinity. The error is that of exp, of the
// sum, and one rounding.
//
// Rows of at most kShortRow elements go several at a time, a row in each lane. One by one, they would leave most lanes
// idle, and sums over lanes would bound them.
#pragma once
#include "passed.hpp"
#include "reduce.hpp"

namespace onnxc::inline ONNXC_ISA {

struct SoftmaxParams {
  Extent rows, n;
  Extent x_row, y_row;
};

namespace detail {

/// y = v over the row; returns max v.
template <class Pro>
ONNXC_INLINE float softmax_values(const float* x, float* y, Index row, Index n, const Pro& prologue) {
  struct Value {
    const float* x;
    float* y;
    Index row;
    const Pro& prologue;
    ONNXC_INLINE Vec operator()(Index i) const {
      finish_vector(prologue, Vec::load(x + i), row, i, y + i);
      return Vec::load(y + i);
    }
    ONNXC_INLINE Vec operator()(Index i, Index lanes) const {
      finish_vector(prologue, Vec::load(x + i, lanes), row, i, y + i, lanes);
      return Vec::load(y + i, lanes);
    }
  };
  return reduce_row<Max>(n, Value{x, y, row, prologue});
}

/// The sum of exp(y - shift), written to `out` unless that is null.
ONNXC_INLINE float softmax_sum(const float* y, float* out, Index n, float shift) {
  struct Value {
    const float* y;
    float* out;
    Vec shift;
    ONNXC_INLINE Vec operator()(Index i) const {
      const Vec e = fn::exp(Vec::load(y + i) - shift);
      if (out != nullptr) e.store(out + i);
      return e;
    }
    ONNXC_INLINE Vec operator()(Index i, Index lanes) const {
      const Vec e = fn::exp(Vec::load(y + i, lanes) - shift);
      if (out != nullptr) e.store(out + i, lanes);
      return e;
    }
  };
  return reduce_row<Sum>(n, Value{y, out, Vec::all(shift)});
}

/// Results below the smallest normal number are 0, as those of exp.
struct MulBy {
  Vec factor;
  ONNXC_INLINE Vec operator()(Vec v) const {
    const Vec probability = v * factor;
    return select(probability < Vec::all(std::numeric_limits<float>::min()), Vec::all(0.0f), probability);
  }
};
struct Minus {
  Vec shift, log_sum;
  ONNXC_INLINE Vec operator()(Vec v) const { return v - shift - log_sum; }
};

template <class F>
ONNXC_INLINE void update_row(float* y, Index n, F f) {
  Index i = 0;
  for (; i + Vec::width <= n; i += Vec::width) f(Vec::load(y + i)).store(y + i);
  if (Vec::width > 1 && i < n) f(Vec::load(y + i, n - i)).store(y + i, n - i);
}

constexpr Index kShortRow = kReproducible ? 0 : Vec::width;  // it depends on the machine

template <bool kLog>
ONNXC_INLINE void softmax_short_rows(const float* x, float* y, Index first, Index last, const SoftmaxParams& p) {
  constexpr Index W = Vec::width;
  float v[Vec::width][W] = {};
  for (Index row = first; row < last; row += W) {
    const Index rows = last - row < W ? last - row : W;
    for (Index r = 0; r < rows; ++r) {
      for (Index i = 0; i < p.n; ++i) v[i][r] = x[(row + r) * p.x_row + i];
    }
    Vec shift = Vec::load(v[0]), total = Vec::all(0.0f);
    for (Index i = 1; i < p.n; ++i) shift = fn::max(shift, Vec::load(v[i]));
    for (Index i = 0; i < p.n; ++i) {
      const Vec moved = Vec::load(v[i]) - shift, power = fn::exp(moved);
      (kLog ? moved : power).store(v[i]);
      total = total + power;
    }
    const Vec last_step = kLog ? fn::log(total) : Vec::all(1.0f) / total;
    for (Index i = 0; i < p.n; ++i) (kLog ? Vec::load(v[i]) - last_step : MulBy{last_step}(Vec::load(v[i]))).store(v[i]);
    for (Index r = 0; r < rows; ++r) {
      for (Index i = 0; i < p.n; ++i) y[(row + r) * p.y_row + i] = v[i][r];
    }
  }
}

template <class Pro>
constexpr bool kKeeps = std::is_same_v<Pro, Epilogue<Keep>>;

}  // namespace detail

template <class Pro = Epilogue<Keep>>
void softmax(Share share, const float* x, float* y, Passed<SoftmaxParams> p, Pro prologue = {}) {
  const auto [first, last] = share.slice(p.rows);
  if constexpr (detail::kKeeps<Pro>) {
    if (p.n <= detail::kShortRow && p.n > 0 && p.rows > 1) return detail::softmax_short_rows<false>(x, y, first, last, p);
  }
  for (Index row = first; row < last; ++row) {
    float* const out = y + row * p.y_row;
    const float shift = detail::softmax_values(x + row * p.x_row, out, row, p.n, prologue);
    const float total = detail::softmax_sum(out, out, p.n, shift);
    detail::update_row(out, p.n, detail::MulBy{Vec::all(1.0f / total)});
  }
}

/// y = v - max v - log(sum exp(v - max v)).
template <class Pro = Epilogue<Keep>>
void log_softmax(Share share, const float* x, float* y, Passed<SoftmaxParams> p, Pro prologue = {}) {
  const auto [first, last] = share.slice(p.rows);
  if constexpr (detail::kKeeps<Pro>) {
    if (p.n <= detail::kShortRow && p.n > 0 && p.rows > 1) return detail::softmax_short_rows<true>(x, y, first, last, p);
  }
  for (Index row = first; row < last; ++row) {
    float* const out = y + row * p.y_row;
    const float shift = detail::softmax_values(x + row * p.x_row, out, row, p.n, prologue);
    const float total = detail::softmax_sum(out, nullptr, p.n, shift);
    detail::update_row(out, p.n, detail::Minus{Vec::all(shift), Vec::all(fn::log(total))});
  }
}

}  // namespace onnxc
