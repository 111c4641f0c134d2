// Pad by repetition of what is there.
#pragma once
#include "../base.hpp"
#include "position.hpp"

namespace onnxc::inline ONNXC_ISA {

enum class PadMode {
  edge,     ///< a a [a b c] c c
  reflect,  ///< c b [a b c] b a, back and forth as often as it takes
  wrap      ///< b c [a b c] a b
};

namespace scalar {

/// The index in [0, n) that index i of the padded axis reads; n > 0.
constexpr int64_t padded_index(int64_t i, int64_t n, PadMode mode) {
  switch (mode) {
    case PadMode::edge: return i < 0 ? 0 : i < n ? i : n - 1;
    case PadMode::wrap: return mod(i, n);
    case PadMode::reflect: break;
  }
  if (n == 1) return 0;
  const int64_t period = 2 * (n - 1), at = mod(i, period);
  return at < n ? at : period - at;
}

/// y is x with before[k] elements more ahead of axis k, and as many behind it as y's shape asks for; where that is
/// negative, x is cropped first. Row-major, no aliasing. ONNXC_BAD_DIMENSION where nothing is left to repeat. A
/// share has some elements of y.
template <class T>
ONNXC_ANYWHERE Status pad(Tensor<T> y, Tensor<const T> x, const Ints& before, PadMode mode, Share share = {}) {
  const int rank = y.shape.rank;
  Shape kept, first;
  kept.rank = first.rank = rank;
  for (int k = 0; k < rank; ++k) {
    const int64_t after = y.shape[k] - x.shape[k] - before[k];
    kept[k] = x.shape[k] + min_of(before[k], 0) + min_of(after, 0);
    first[k] = max_of(0, -before[k]);
    if (kept[k] <= 0 && y.count() != 0) return {ONNXC_BAD_DIMENSION};
  }
  if (rank == 0) {
    y.data[0] = x.data[0];
    return {};
  }
  const auto [begin, end] = share.slice(y.count());
  const int last = rank - 1;
  const int64_t width = y.shape[last], ahead = max_of(before[last], 0), own = kept[last];
  Position at{y.shape};
  at.go_to(begin < end ? begin : 0);
  for (int64_t i = begin; i < end;) {
    int64_t row = 0;  // of x, from its first element that is kept
    for (int k = 0; k < last; ++k) row = row * x.shape[k] + first[k] + padded_index(at[k] - max_of(before[k], 0), kept[k], mode);
    const T* const from = x.data + row * x.shape[last] + first[last];
    // Columns [j, to) of a row of y, of which those of x are copied as they are.
    const int64_t to = min_of(width, at[last] + end - i), middle = min_of(to, ahead + own);
    T* const row_of_y = y.data + i - at[last];
    int64_t j = at[last];
    for (; j < min_of(ahead, to); ++j) row_of_y[j] = from[padded_index(j - ahead, own, mode)];
    for (; j < middle; ++j) row_of_y[j] = from[j - ahead];
    for (; j < to; ++j) row_of_y[j] = from[padded_index(j - ahead, own, mode)];
    i += to - at[last];
    at.at[last] = width - 1;
    at.next();
  }
  return {};
}

}  // namespace scalar
}  // namespace onnxc
