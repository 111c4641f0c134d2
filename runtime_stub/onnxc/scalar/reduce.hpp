// Reductions of any type over any axes, as ONNX defines them.
#pragma once
#include "../fn.hpp"
#include "../strided.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

/// What values are combined by, from `start` on. Sums and products of floats run in double, of integers in the type itself, which wraps.
struct Sum {
  template <class T>
  using Total = std::conditional_t<std::is_integral_v<T>, T, double>;
  template <class T>
  static constexpr T start = T(0);
  template <class T>
  static ONNXC_BOTH T combine(T a, T b) {
    return fn::add(a, b);
  }
};
struct Product {
  template <class T>
  using Total = std::conditional_t<std::is_integral_v<T>, T, double>;
  template <class T>
  static constexpr T start = T(1);
  template <class T>
  static ONNXC_BOTH T combine(T a, T b) {
    return fn::mul(a, b);
  }
};
/// The largest value; NaN where there is one. Of no values it is the type's lowest value: -infinity for floats.
struct Max {
  template <class T>
  using Total = std::conditional_t<std::is_integral_v<T>, T, double>;
  template <class T>
  static constexpr T start = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
  template <class T>
  static ONNXC_BOTH T combine(T a, T b) {
    return a >= b || a != a ? a : b;
  }
};
struct Min {
  template <class T>
  using Total = std::conditional_t<std::is_integral_v<T>, T, double>;
  template <class T>
  static constexpr T start = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  template <class T>
  static ONNXC_BOTH T combine(T a, T b) {
    return a <= b || a != a ? a : b;
  }
};

/// What is done to each value first.
struct Same {
  template <class T>
  static ONNXC_BOTH T apply(T x) {
    return x;
  }
};
struct Magnitude {
  template <class T>
  static ONNXC_BOTH T apply(T x) {
    return fn::abs(x);
  }
};
struct Square {
  template <class T>
  static ONNXC_BOTH T apply(T x) {
    return fn::mul(x, x);
  }
};
struct Exponential {
  template <class T>
  static ONNXC_BOTH T apply(T x) {
    return fn::exp(x);
  }
};

/// y[o] = Combine of Prologue(x) over the positions of `reduced`, for each position o of `kept`, which y holds
/// row-major. x has a stride for each axis of either. Rounded once at the end. Y may be wider than T: sums of bytes are i32.
template <class Combine, class Prologue, class Y, class T>
ONNXC_ANYWHERE void reduce(Share share, Y* y, const T* x, Shape kept, Ints kept_strides, Shape reduced, Ints reduced_strides) {
  using Total = typename Combine::template Total<Y>;
  const int inner = reduced.rank - 1;
  const int64_t length = reduced.rank == 0 ? 1 : reduced[inner], step = reduced.rank == 0 ? 0 : reduced_strides[inner];
  const int64_t rows = reduced.rank == 0 ? 1 : reduced.count(0, inner);
  const auto [first, last] = share.slice(kept.count());
  for (int64_t o = first; o < last; ++o) {
    const T* const from = x + strided_offset(kept, kept.rank, kept_strides, o);
    Total total = Combine::template start<Total>;
    for (int64_t row = 0; row < rows && length > 0; ++row) {
      const T* const values = from + strided_offset(reduced, inner, reduced_strides, row);
      for (int64_t i = 0; i < length; ++i) total = Combine::combine(total, Prologue::apply(fn::cast<Total>(values[i * step])));
    }
    y[o] = fn::cast<Y>(total);
  }
}

}  // namespace onnxc::inline ONNXC_ISA::scalar
