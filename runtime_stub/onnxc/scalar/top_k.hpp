// TopK, as ONNX defines it.
#pragma once
#include "../base.hpp"
#include "../fn.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

/// The best elements so far with their indices, `step` elements apart, the worst of them at the root. The largest are best,
/// or the smallest; of equal ones the lower index is better. NaN is larger than any number.
template <class T>
struct TopHeap {
  T* values;
  int64_t* indices;
  int64_t step;
  bool largest;

  /// Begins with the first `size` elements of `from`, which are `step` apart as well.
  ONNXC_ANYWHERE void fill(const T* from, int64_t size) {
    for (int64_t i = 0; i < size; ++i) put(i, from[i * step], i);
    for (int64_t i = size / 2; i-- > 0;) sink(i, size, values[i * step], indices[i * step]);
  }
  /// Takes an element in place of the root, if it is better.
  ONNXC_ANYWHERE void take(T value, int64_t index, int64_t size) {
    if (is_worse(values[0], indices[0], value, index)) sink(0, size, value, index);
  }
  /// The worst goes to the end, again and again.
  ONNXC_ANYWHERE void sort(int64_t size) {
    while (--size > 0) {
      const T last = values[size * step];
      const int64_t last_index = indices[size * step];
      put(size, values[0], indices[0]);
      sink(0, size, last, last_index);
    }
  }

 private:
  ONNXC_ANYWHERE static bool is_less(T u, T v) {
    if constexpr (fn::floating<T> || small_float<T>) {
      if (fn::is_nan(u)) return false;
      if (fn::is_nan(v)) return true;
    }
    if constexpr (small_float<T>) return static_cast<float>(u) < static_cast<float>(v);
    else return u < v;
  }
  ONNXC_ANYWHERE bool is_worse(T u, int64_t u_index, T v, int64_t v_index) const {
    if (largest ? is_less(u, v) : is_less(v, u)) return true;
    if (largest ? is_less(v, u) : is_less(u, v)) return false;
    return u_index > v_index;
  }
  ONNXC_ANYWHERE void put(int64_t i, T value, int64_t index) {
    values[i * step] = value;
    indices[i * step] = index;
  }
  /// Puts (value, index) into the heap of the first `size`, from the hole at `hole` down.
  ONNXC_ANYWHERE void sink(int64_t hole, int64_t size, T value, int64_t index) {
    for (int64_t child = 2 * hole + 1; child < size; child = 2 * hole + 1) {
      const int64_t other = child + 1;
      if (other < size && is_worse(values[other * step], indices[other * step], values[child * step], indices[child * step])) child = other;
      if (!is_worse(values[child * step], indices[child * step], value, index)) break;
      put(hole, values[child * step], indices[child * step]);
      hole = child;
    }
    put(hole, value, index);
  }
};

/// The k largest (or smallest) of each x[p, :, s] along `axis`, best first, with their indices; of equal ones the lower
/// index is better. NaN is larger than any number. k is the extent of `values` on that axis; where it exceeds that of
/// x, the result is ONNXC_INDEX_OUT_OF_RANGE.
///
/// The best k so far are a heap in `values` itself, which is sorted in place at the end. This takes n log k comparisons.
/// A share has some of the lines (p, s).
template <class T>
ONNXC_ANYWHERE Status top_k(Tensor<T> values, Tensor<int64_t> indices, Tensor<const T> x, int64_t axis, bool largest, Share share = {}) {
  const int a = static_cast<int>(axis);
  const int64_t outer = x.shape.count(0, a), n = x.shape[a], inner = x.shape.count(a + 1, x.shape.rank), k = values.shape[a];
  if (k > n) return {ONNXC_INDEX_OUT_OF_RANGE};
  if (k <= 0) return {};
  const auto [first, last] = share.slice(outer * inner);
  for (int64_t line = first; line < last; ++line) {
    const int64_t p = line / inner, s = line % inner;
    const T* const from = x.data + p * n * inner + s;
    TopHeap<T> heap{values.data + p * k * inner + s, indices.data + p * k * inner + s, inner, largest};
    heap.fill(from, k);
    for (int64_t i = k; i < n; ++i) heap.take(from[i * inner], i, k);
    heap.sort(k);
  }
  return {};
}

}  // namespace onnxc::scalar
