// TopK, as ONNX defines it.
#pragma once
#include "../base.hpp"
#include "../fn.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

/// The k largest (or smallest) of each x[p, :, s] along `axis`, best first, with their indices; of equal ones the lower
/// index is better. NaN is larger than any number. k is the extent of `values` on that axis; where it exceeds that of
/// x, the result is ONNXC_INDEX_OUT_OF_RANGE.
///
/// The best k so far are a heap in `values` itself, the worst of them at its root. At the end the heap is sorted in
/// place. This takes n log k comparisons.
template <class T>
Status top_k(Tensor<T> values, Tensor<int64_t> indices, Tensor<const T> x, int64_t axis, bool largest) {
  const int a = static_cast<int>(axis);
  const int64_t outer = x.shape.count(0, a), n = x.shape[a], inner = x.shape.count(a + 1, x.shape.rank), k = values.shape[a];
  if (k > n) return {ONNXC_INDEX_OUT_OF_RANGE};
  if (k <= 0) return {};
  const auto less = [](T u, T v) {
    if constexpr (fn::floating<T> || small_float<T>) {
      if (fn::is_nan(u)) return false;
      if (fn::is_nan(v)) return true;
    }
    if constexpr (small_float<T>) return static_cast<float>(u) < static_cast<float>(v);
    else return u < v;
  };
  for (int64_t p = 0; p < outer; ++p) {
    for (int64_t s = 0; s < inner; ++s) {
      T* const v = values.data + p * k * inner + s;
      int64_t* const at = indices.data + p * k * inner + s;
      const T* const from = x.data + p * n * inner + s;
      const auto worse = [&](T u, int64_t u_at, T w, int64_t w_at) {  // (u, u_at) ranks behind (w, w_at)
        if (largest ? less(u, w) : less(w, u)) return true;
        if (largest ? less(w, u) : less(u, w)) return false;
        return u_at > w_at;
      };
      // Puts (value, index) into the heap of the first `size`, from the hole at `hole` down.
      const auto sink = [&](int64_t hole, int64_t size, T value, int64_t index) {
        for (;;) {
          int64_t child = 2 * hole + 1;
          if (child >= size) break;
          if (child + 1 < size && worse(v[(child + 1) * inner], at[(child + 1) * inner], v[child * inner], at[child * inner])) ++child;
          if (!worse(v[child * inner], at[child * inner], value, index)) break;
          v[hole * inner] = v[child * inner];
          at[hole * inner] = at[child * inner];
          hole = child;
        }
        v[hole * inner] = value;
        at[hole * inner] = index;
      };
      for (int64_t i = 0; i < k; ++i) {
        v[i * inner] = from[i * inner];
        at[i * inner] = i;
      }
      for (int64_t i = k / 2; i-- > 0;) sink(i, k, v[i * inner], at[i * inner]);
      for (int64_t i = k; i < n; ++i) {
        if (worse(v[0], at[0], from[i * inner], i)) sink(0, k, from[i * inner], i);
      }
      // The worst goes to the end, again and again.
      for (int64_t size = k - 1; size > 0; --size) {
        const T last = v[size * inner];
        const int64_t last_at = at[size * inner];
        v[size * inner] = v[0];
        at[size * inner] = at[0];
        sink(0, size, last, last_at);
      }
    }
  }
  return {};
}

}  // namespace onnxc::scalar
