// Einsum of one or two operands, over strides.
#pragma once
#include "../base.hpp"
#include "../fn.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

/// y[i] = sum over j of a[i, j] * b[i, j]: the first `kept` extents are i, in y's order, the others j. Strides say
/// where an operand has the element; a stride of 0 repeats it. Without b (null) the sum is of a alone. Small floats are
/// summed in float; integers wrap. A share has some elements of y.
template <class T>
ONNXC_ANYWHERE void einsum(T* y, int64_t kept, const Ints& extents, const T* a, const Ints& a_strides, const std::type_identity_t<T>* b,
                           const Ints& b_strides, Share share = {}) {
  using Sum = std::conditional_t<small_float<T>, float, T>;
  const int outer = static_cast<int>(kept);
  int64_t count = 1, length = 1;
  for (int k = 0; k < extents.size; ++k) (k < outer ? count : length) *= extents[k];
  int64_t at[2 * kMaxRank] = {};
  int64_t a_at = 0, b_at = 0;
  // The next index among axes [first, last), last axis fastest; back to zeros after the last.
  const auto advance = [&](int first, int last) {
    for (int k = last - 1; k >= first; --k) {
      a_at += a_strides[k];
      b_at += b_strides[k];
      if (++at[k] < extents[k]) return;
      a_at -= at[k] * a_strides[k];
      b_at -= at[k] * b_strides[k];
      at[k] = 0;
    }
  };
  const auto [first, last] = share.slice(count);
  if (first >= last) return;
  for (int64_t k = outer - 1, rest = first; k >= 0; rest /= extents[static_cast<int>(k--)]) {
    at[k] = rest % extents[static_cast<int>(k)];
    a_at += at[k] * a_strides[static_cast<int>(k)];
    b_at += at[k] * b_strides[static_cast<int>(k)];
  }
  for (int64_t i = first; i < last; ++i, advance(0, outer)) {
    Sum sum = Sum(0);
    for (int64_t j = 0; j < length; ++j, advance(outer, extents.size)) {
      const Sum p = fn::cast<Sum>(a[a_at]);
      sum = fn::add(sum, b == nullptr ? p : fn::mul(p, fn::cast<Sum>(b[b_at])));
    }
    y[i] = fn::cast<T>(sum);
  }
}

}  // namespace onnxc::scalar
