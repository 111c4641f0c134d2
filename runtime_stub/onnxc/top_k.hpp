// TopK of the rows of a matrix of floats.
//
// Few of many (kTopFew): first the best value of each lane over the whole row. The k-th best of these is a bound that at least
// k elements reach and few others, so hardly more than k elements are candidates. The place of each among them is counted.
//
//   k = 2, four lanes:   3 1 4 1   5 9 2 6      lanes' best: 5 9 4 6      bound: 6      candidates: 9 6
//
// There are two passes over the row and hardly a branch that depends on its data: a heap would mispredict one for each element
// that enters it. More, and where many are equal: the best so far are a heap as in scalar/top_k.hpp, and vectors skip what does
// not beat its root.
#pragma once
#include <type_traits>

#include "scalar/top_k.hpp"
#include "vec.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {

/// Up to half of the lanes that a bound is taken from: those of one vector, or of kTopChains.
constexpr int kTopChains = 4;
constexpr int64_t kTopFew = kTopChains * Vec::width / 2;
/// Elements that may reach the bound: a bit for each in 64.
constexpr int64_t kTopCandidates = kTopChains * Vec::width;
static_assert(kTopCandidates <= 64);

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

/// What top_row ranks elements by: themselves.
struct RankAsIs {
  static ONNXC_INLINE float slack(float bound, bool) { return bound; }
  static void apply(float*, int64_t) {}
};
/// Their square roots, of elements that are not negative; the results are these. Most elements are ruled out before a root is
/// taken. Roots may be equal where elements are not, but then these differ by less than four roundings.
struct RankByRoot {
  static ONNXC_INLINE float slack(float bound, bool largest) { return bound * (largest ? 1 - 0x1p-21f : 1 + 0x1p-21f); }
  static void apply(float* x, int64_t n) {
    int64_t i = 0;
    for (; i + Vec::width <= n; i += Vec::width) sqrt(Vec::load(x + i)).store(x + i);
    if (i < n) sqrt(Vec::load(x + i, n - i)).store(x + i, n - i);
  }
};

/// The indices of the elements that reach the bound, in order: how many there are, or more than kTopCandidates where there is
/// no room. Bits of a block are gathered before any is looked at, since each branch on them may be mispredicted.
template <bool largest>
ONNXC_INLINE int64_t find_candidates(const float* x, int64_t n, float bound, int64_t* at) {
  constexpr int64_t kBlock = kTopChains * Vec::width, kBlocks = 64;
  const Vec limit = Vec::all(bound);
  const auto reaching = [&](Vec v) { return lane_bits(largest ? v >= limit : v <= limit); };
  int64_t size = 0;
  uint64_t bits[kBlocks];
  for (int64_t first = 0; first < n; first += kBlocks * kBlock) {
    uint64_t blocks = 0;  // those in which an element reaches it
    for (int64_t b = 0; b < kBlocks && first + b * kBlock < n; ++b) {
      const float* const from = x + first + b * kBlock;
      const int64_t left = n - first - b * kBlock;
      uint64_t found = 0;
      if (left >= kBlock) {
        ONNXC_UNROLL for (int c = 0; c < kTopChains; ++c) found |= uint64_t{reaching(Vec::load(from + c * Vec::width))} << (c * Vec::width);
      } else {
        for (int64_t j = 0; j < left; ++j) found |= uint64_t{largest ? from[j] >= bound : from[j] <= bound} << j;
      }
      bits[b] = found;
      blocks |= uint64_t{found != 0} << b;
    }
    for (; blocks != 0; blocks &= blocks - 1) {
      const int b = __builtin_ctzll(blocks);
      for (uint64_t found = bits[b]; found != 0; found &= found - 1) {
        if (size == kTopCandidates) return size + 1;
        at[size++] = first + b * kBlock + __builtin_ctzll(found);
      }
    }
  }
  return size;
}

/// The few best of a row without NaN that reach the bound; false where too many do.
template <bool largest, class Rank>
ONNXC_INLINE bool top_few(const float* x, int64_t n, int64_t k, float bound, float* values, int64_t* indices) {
  int64_t at[kTopCandidates], order[kTopCandidates];
  const int64_t size = find_candidates<largest>(x, n, Rank::slack(bound, largest), at);
  if (size > kTopCandidates) return false;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  float candidates[kTopCandidates];
  const int64_t used = vectors(size);
  for (int64_t q = 0; q < used; ++q) Vec::all(largest ? -kInfinity : kInfinity).store(candidates + q * Vec::width);
  for (int64_t i = 0; i < size; ++i) candidates[i] = x[at[i]];
  Rank::apply(candidates, size);
  // The place of each is the number of those that are better, or equal and before it.
  for (int64_t i = 0; i < size; ++i) {
    const Vec candidate = Vec::all(candidates[i]);
    uint64_t better = 0, equal = 0;
    for (int64_t q = 0; q < used; ++q) {
      const Vec other = Vec::load(candidates + q * Vec::width);
      better |= uint64_t{lane_bits(is_better<largest>(other, candidate))} << (q * Vec::width);
      equal |= uint64_t{lane_bits(other == candidate)} << (q * Vec::width);
    }
    order[__builtin_popcountll(better | (equal & ((uint64_t{1} << i) - 1)))] = i;
  }
  for (int64_t j = 0; j < k; ++j) {
    values[j] = candidates[order[j]];
    indices[j] = at[order[j]];
  }
  return true;
}

/// The k best of a row with their indices, k <= n. X is const float, or float where Rank may change the row.
template <bool largest, class Rank = RankAsIs, class X>
inline void top_row(X* x, int64_t n, int64_t k, float* values, int64_t* indices) {
  if (k <= kTopFew) {
    const float bound = top_bound<largest>(x, n, k);
    if (bound == bound && top_few<largest, Rank>(x, n, k, bound, values, indices)) return;
  }
  if constexpr (!std::is_const_v<X>) Rank::apply(x, n);
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
