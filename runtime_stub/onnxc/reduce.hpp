// Reductions of floats: over the last axis, or over the middle axis of [outer, r, inner].
//
//   reduce_last<Sum>(share, x, y, {.outer = 128, .r = 384, .x_row = 384});
//   reduce_middle<Sum>(share, x, y, {.outer = 1, .r = 49, .inner = 1280, .x_row = 1280, .x_outer = 62720}, Epilogue<Mean>{});
//
// The combining function is Sum, Product, Max or Min. A prologue expression is applied to each value first (Square for
// the sum of squares, Abs for L1), and an epilogue to the result (times 1/r for the mean, a root for L2). The epilogue
// sees the output as [1, outer], or as [outer, inner]. Sums go through many accumulators in blocks: over the last axis
// each accumulator takes 32 values and blocks are added in double; down the middle axis it takes kSumBlock values and
// blocks are added in float. max and min propagate NaN. r = 0 gives the combining function's start. Other types and
// axes: scalar/reduce.hpp.
#pragma once
#include "passed.hpp"
#include "tile.hpp"

namespace onnxc::inline ONNXC_ISA {

struct Sum {
  static constexpr float start = 0.0f;
  template <class V>
  static ONNXC_INLINE V combine(V a, V b) {
    return fn::add(a, b);
  }
};
struct Product {
  static constexpr float start = 1.0f;
  template <class V>
  static ONNXC_INLINE V combine(V a, V b) {
    return fn::mul(a, b);
  }
};
struct Max {
  static constexpr float start = -std::numeric_limits<float>::infinity();
  template <class V>
  static ONNXC_INLINE V combine(V a, V b) {
    return fn::max(a, b);
  }
};
struct Min {
  static constexpr float start = std::numeric_limits<float>::infinity();
  template <class V>
  static ONNXC_INLINE V combine(V a, V b) {
    return fn::min(a, b);
  }
};

/// Prologues.
struct Magnitude {
  template <class L, class V>
  static ONNXC_INLINE V apply(L, V x) {
    return fn::abs(x);
  }
};
struct Square {
  template <class L, class V>
  static ONNXC_INLINE V apply(L, V x) {
    return fn::mul(x, x);
  }
};
struct Exponential {
  template <class L, class V>
  static ONNXC_INLINE V apply(L, V x) {
    return fn::exp(x);
  }
};

struct ReduceParams {
  Extent outer = 1, r, inner = 1;
  Extent x_row;        // elements between rows of the last axis; between the r values of the middle one
  Extent x_outer = 0;  // reduce_middle: elements between outer positions of x, and of y
  Extent y_outer = 0;
};

constexpr Index kSumBlock = 512;

namespace detail {

/// What is combined of the blocks of a row: in double; or in float with the errors of its sums beside it, where the machine has no double, and
/// where all machines are to do the same.
#if defined(ONNXC_SOFT_DOUBLES) || defined(ONNXC_REPRODUCIBLE)
template <class Op>
struct Total {
  float value = Op::start, error = 0;
  ONNXC_INLINE void take(float x) {
    const float before = value;
    value = Op::combine(value, x);
    // The exact error of a sum, after D. E. Knuth, The Art of Computer Programming, 4.2.2.
    if constexpr (std::is_same_v<Op, Sum>) {
      const float of_x = value - before, of_before = value - of_x;
      error += (before - of_before) + (x - of_x);
    }
  }
  ONNXC_INLINE operator float() const { return error == error ? value + error : value; }  // no number if an infinity is among the values
};
#else
template <class Op>
struct Total {
  double value = static_cast<double>(Op::start);
  ONNXC_INLINE void take(float x) { value = Op::combine(value, static_cast<double>(x)); }
  ONNXC_INLINE operator float() const { return static_cast<float>(value); }
};
#endif

/// Combines lanes [0, n) of v one by one.
template <class Op>
ONNXC_INLINE void combine_lanes(Total<Op>& total, Vec v, Index n) {
  float lanes[Vec::width];
  v.store(lanes);
  for (Index i = 0; i < n; ++i) total.take(lanes[i]);
}

/// value(i) or value(i, n) is the vector at element i, whole or its first n lanes; combined over [0, r). kReproducible: one by one. On small
/// cores the code of a value, which may be that of exp, is worth more than chains.
template <class Op, class Value>
ONNXC_INLINE float reduce_row(Index r, Value value) {
  constexpr int kChains = ONNXC_MICRO ? 1 : 4;
  constexpr Index kBlock = Index{32} * kChains * Vec::width;
  Total<Op> total;
  Index i = 0;
  if constexpr (kReproducible) {
    for (; i + Vec::width <= r; i += Vec::width) combine_lanes(total, value(i), Vec::width);
  }
  while (i + Vec::width <= r) {
    const Index end = r - i < kBlock ? r : i + kBlock;
    Vec acc[kChains];
    ONNXC_UNROLL for (int u = 0; u < kChains; ++u) acc[u] = Vec::all(Op::start);
    for (; i + kChains * Vec::width <= end; i += kChains * Vec::width) {
      ONNXC_UNROLL for (int u = 0; u < kChains; ++u) acc[u] = Op::combine(acc[u], value(i + u * Vec::width));
    }
    if constexpr (kChains == 4) {
      for (; i + Vec::width <= end; i += Vec::width) acc[0] = Op::combine(acc[0], value(i));
      acc[0] = Op::combine(Op::combine(acc[0], acc[1]), Op::combine(acc[2], acc[3]));
    }
    total.take(across(acc[0], [](Vec a, Vec b) ONNXC_SMALL_LAMBDA { return Op::combine(a, b); }));
  }
  if (Vec::width > 1 && i < r) combine_lanes(total, value(i, r - i), r - i);
  return total;
}

}  // namespace detail

/// y[o] = epilogue(combine of prologue(x[o * x_row + i]) over i in [0, r)).
template <class Op, class Prologue = Keep, class Epi = Epilogue<Keep>>
void reduce_last(Share share, const float* x, float* y, Passed<ReduceParams> p, Epi epi = {}) {
  const auto [first, last] = share.slice(p.outer);
  for (Index o = first; o < last; ++o) {
    const float* const row = x + o * p.x_row;
    struct Value {
      const float* row;
      ONNXC_INLINE Vec operator()(Index i) const { return Prologue::apply(Lanes{}, Vec::load(row + i)); }
      ONNXC_INLINE Vec operator()(Index i, Index n) const { return Prologue::apply(Lanes{}, Vec::load(row + i, n)); }
    };
    const float total = detail::reduce_row<Op>(p.r, Value{row});
    finish_vector(epi, Vec::all(total), 0, o, y + o, 1);
  }
}

namespace detail {
/// Combines r rows of `wide` vectors side by side, downwards from `column` on; load(p) is a vector at p.
template <class Op, class Prologue, int wide, class Load>
ONNXC_INLINE void reduce_strip(const float* column, Index r, Index x_row, Load load, Vec (&total)[wide]) {
  ONNXC_UNROLL for (int u = 0; u < wide; ++u) total[u] = Vec::all(Op::start);
  for (Index i = 0; i < r;) {
    const Index end = r - i < kSumBlock ? r : i + kSumBlock;
    Vec acc[wide];
    ONNXC_UNROLL for (int u = 0; u < wide; ++u) acc[u] = Vec::all(Op::start);
    for (; i < end; ++i) {
      ONNXC_UNROLL for (int u = 0; u < wide; ++u) acc[u] =
          Op::combine(acc[u], Prologue::apply(Lanes{}, load(column + i * x_row + u * Vec::width)));
    }
    ONNXC_UNROLL for (int u = 0; u < wide; ++u) total[u] = Op::combine(total[u], acc[u]);
  }
}
}  // namespace detail

/// y[o * y_outer + j] = epilogue(combine of prologue(x[o * x_outer + i * x_row + j]) over i in [0, r)), j in [0, inner).
template <class Op, class Prologue = Keep, class Epi = Epilogue<Keep>>
void reduce_middle(Share share, const float* x, float* y, Passed<ReduceParams> p, Epi epi = {}) {
  constexpr int kWide = 4;
  constexpr Index kStrip = kWide * Vec::width;
  const Index strips = (p.inner + kStrip - 1) / kStrip;
  const auto [first, last] = share.slice(p.outer * strips);
  for (Index unit = first; unit < last; ++unit) {
    const Index o = unit / strips, end = p.inner;
    Index j = unit % strips * kStrip;
    const float* const column = x + o * p.x_outer;
    float* const out = y + o * p.y_outer;
    if (j + kStrip <= end) {
      Vec total[kWide];
      detail::reduce_strip<Op, Prologue>(column + j, p.r, p.x_row, [](const float* q) ONNXC_SMALL_LAMBDA { return Vec::load(q); }, total);
      ONNXC_UNROLL for (int u = 0; u < kWide; ++u) finish_vector(epi, total[u], o, j + u * Vec::width, out + j + u * Vec::width);
      continue;
    }
    Vec total[1];
    for (; j + Vec::width <= end; j += Vec::width) {
      detail::reduce_strip<Op, Prologue>(column + j, p.r, p.x_row, [](const float* q) ONNXC_SMALL_LAMBDA { return Vec::load(q); }, total);
      finish_vector(epi, total[0], o, j, out + j);
    }
    if (const Index n = end - j; n > 0) {
      detail::reduce_strip<Op, Prologue>(
          column + j, p.r, p.x_row, [n](const float* q) ONNXC_SMALL_LAMBDA { return Vec::load(q, n); }, total);
      finish_vector(epi, total[0], o, j, out + j, n);
    }
  }
}

}  // namespace onnxc
