// TopK of the rows of a matrix of floats.
//
// Few of many (kTopFew): first the best value of each lane over the whole row. The k-th best of these is a bound that at least
// k elements reach and few others, so hardly more than k elements are looked at one by one, and they are kept in order:
//
//   k = 2, four lanes:   3 1 4 1   5 9 2 6      lanes' best: 5 9 4 6      bound: 6      elements that reach it: 9 6
//
// More: the best so far are a heap as in scalar/top_k.hpp, and vectors skip what does not beat its root.
#pragma once
#include "scalar/top_k.hpp"
#include "vec.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {

/// Up to half of the lanes that a bound is taken from: those of one vector, or of kTopChains.
constexpr int kTopChains = 4;
constexpr int64_t kTopFew = kTopChains * Vec::width / 2;

template <bool largest>
ONNXC_INLINE bool is_better(float a, float b) {
  return largest ? a > b : a < b;
}
template <bool largest>
ONNXC_INLINE Mask is_better(Vec a, Vec b) {
  return largest ? a > b : a < b;
}

/// Of n values without NaN, the k-th best. Counting has no branches.
template <bool largest, int vectors>
ONNXC_INLINE float kth_best(const Vec (&v)[vectors], int64_t k) {
  float lanes[vectors * Vec::width];
  for (int i = 0; i < vectors; ++i) v[i].store(lanes + i * Vec::width);
  float worst = largest ? std::numeric_limits<float>::infinity() : -std::numeric_limits<float>::infinity();
  for (const float lane : lanes) {  // of those that fewer than k beat, the worst
    int better = 0;
    ONNXC_UNROLL for (int i = 0; i < vectors; ++i) better += count(is_better<largest>(v[i], Vec::all(lane)));
    worst = better < k && is_better<largest>(worst, lane) ? lane : worst;
  }
  return worst;
}

/// A value that k elements of the row reach, k <= kTopFew and k <= n. NaN where the row has a NaN.
template <bool largest>
ONNXC_INLINE float top_bound(const float* x, int64_t n, int64_t k) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Vec worst = Vec::all(largest ? -kInfinity : kInfinity);
  const auto best = [](Vec a, Vec b) { return largest ? max_or_nan(a, b) : min_or_nan(a, b); };
  Vec chains[kTopChains];
  for (Vec& chain : chains) chain = worst;
  int64_t i = 0;
  for (; i + kTopChains * Vec::width <= n; i += kTopChains * Vec::width) {
    ONNXC_UNROLL for (int c = 0; c < kTopChains; ++c) chains[c] = best(chains[c], Vec::load(x + i + c * Vec::width));
  }
  ONNXC_UNROLL for (int c = 0; c < kTopChains; ++c, i += Vec::width) {
    if (i + Vec::width <= n) {
      chains[c] = best(chains[c], Vec::load(x + i));
    } else if (i < n) {  // lanes beyond the end must not count
      float last[Vec::width];
      worst.store(last);
      for (int64_t j = i; j < n; ++j) last[j - i] = x[j];
      chains[c] = best(chains[c], Vec::load(last));
    }
  }
  const Vec all[1] = {best(best(chains[0], chains[1]), best(chains[2], chains[3]))};
  if (any(all[0] != all[0])) return std::numeric_limits<float>::quiet_NaN();
  return 2 * k <= Vec::width ? kth_best<largest>(all, k) : kth_best<largest>(chains, k);
}

/// The few best of a row without NaN that reach the bound.
template <bool largest>
ONNXC_INLINE void top_few(const float* x, int64_t n, int64_t k, float bound, float* values, int64_t* indices) {
  float best[kTopFew];
  int64_t at[kTopFew], size = 0;
  // Elements come in order, so an equal one that comes later is behind.
  const auto take = [&](int64_t i) {
    const float value = x[i];
    if (size == k) {
      if (!is_better<largest>(value, best[k - 1])) return;
    } else {
      ++size;
    }
    int64_t j = size - 1;
    for (; j > 0 && is_better<largest>(value, best[j - 1]); --j) {
      best[j] = best[j - 1];
      at[j] = at[j - 1];
    }
    best[j] = value;
    at[j] = i;
    if (size == k) bound = best[k - 1];
  };
  const auto reaching = [&](Vec v) {
    const Vec limit = Vec::all(bound);
    return size == k ? is_better<largest>(v, limit) : largest ? v >= limit : v <= limit;
  };
  int64_t i = 0;
  for (; i + 4 * Vec::width <= n; i += 4 * Vec::width) {
    Mask found[4];
    ONNXC_UNROLL for (int c = 0; c < 4; ++c) found[c] = reaching(Vec::load(x + i + c * Vec::width));
    if (!any((found[0] | found[1]) | (found[2] | found[3]))) continue;
    ONNXC_UNROLL for (int c = 0; c < 4; ++c) {
      for (unsigned bits = lane_bits(found[c]); bits != 0; bits &= bits - 1) take(i + c * Vec::width + __builtin_ctz(bits));
    }
  }
  for (; i < n; ++i) {
    if (size == k ? is_better<largest>(x[i], bound) : !is_better<largest>(bound, x[i])) take(i);
  }
  for (int64_t j = 0; j < k; ++j) {
    values[j] = best[j];
    indices[j] = at[j];
  }
}

/// The k best of a row with their indices, k <= n.
template <bool largest>
inline void top_row(const float* x, int64_t n, int64_t k, float* values, int64_t* indices) {
  if (k <= kTopFew) {
    if (const float bound = top_bound<largest>(x, n, k); bound == bound) {
      top_few<largest>(x, n, k, bound, values, indices);
      return;
    }
  }
  scalar::TopHeap<float> heap{values, indices, 1, largest};
  heap.fill(x, k);
  int64_t i = k;
  for (; i + Vec::width <= n; i += Vec::width) {
    // All but those that cannot beat the root. It may be NaN: then each is asked.
    const Vec root = Vec::all(values[0]), next = Vec::load(x + i);
    const Mask maybe = largest ? ~(next <= root) : ~(root <= next);
    for (unsigned bits = lane_bits(maybe); bits != 0; bits &= bits - 1) {
      const int64_t j = i + __builtin_ctz(bits);
      heap.take(x[j], j, k);
    }
  }
  for (; i < n; ++i) heap.take(x[i], i, k);
  heap.sort(k);
}

}  // namespace detail

/// values[row, k] and indices[row, k] as by scalar::top_k along the last axis of x [..., n]; k <= n.
template <bool largest>
void top_k(Share share, Tensor<float> values, Tensor<int64_t> indices, Tensor<const float> x) {
  const int last = x.shape.rank - 1;
  const int64_t n = x.shape[last], k = values.shape[last];
  if (k <= 0) return;
  const auto [begin, end] = share.slice(x.shape.count(0, last));
  for (int64_t row = begin; row < end; ++row)
    detail::top_row<largest>(x.data + row * n, n, k, values.data + row * k, indices.data + row * k);
}

}  // namespace onnxc::inline ONNXC_ISA
