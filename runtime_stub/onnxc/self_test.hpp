// Compares what a unit gives with what it should give, on the machine that runs it: for units with a self-test.
#pragma once
#include <type_traits>

#include "base.hpp"
#include "types.hpp"

namespace onnxc::inline ONNXC_ISA {

/// Floats may differ by atol + rtol * |expected|, integers by int_atol. Where rel_l2 is not negative, floats and integers of up to 16 bits are
/// compared as a whole instead: ||actual - expected|| <= rel_l2 * ||expected||.
struct SelfTestTolerance {
  float rtol = 0, atol = 0;
  int64_t int_atol = 0;
  float rel_l2 = -1;
};

namespace detail {
/// In the type of T, or in f32 for smaller ones: a core may have no floats of 64 bits.
template <class T>
using Compared = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class T>
bool departs(T actual, T expected, const SelfTestTolerance& t) noexcept {
  if constexpr (std::is_same_v<T, bool>) {
    return actual != expected;
  } else if constexpr (std::is_integral_v<T>) {
    const auto least = actual < expected ? actual : expected, most = actual < expected ? expected : actual;
    return static_cast<uint64_t>(most) - static_cast<uint64_t>(least) > static_cast<uint64_t>(t.int_atol);
  } else {
    using F = Compared<T>;
    const F a = static_cast<F>(actual), e = static_cast<F>(expected);
    if (a == e || (a != a && e != e)) return false;
    const F difference = a < e ? e - a : a - e, size = e < 0 ? -e : e;
    return !(size - size == 0 && difference <= static_cast<F>(t.atol) + static_cast<F>(t.rtol) * size);  // infinities are equal or not
  }
}
}  // namespace detail

/// The first of n elements that departs from what is expected by more than the tolerance, or -1. Compared as a whole: 0 or -1.
template <class T>
int64_t find_departure(const T* actual, const T* expected, int64_t n, const SelfTestTolerance& t) noexcept {
  constexpr bool is_integer = std::is_integral_v<T>;
  if constexpr (!std::is_same_v<T, bool> && (!is_integer || sizeof(T) <= 2)) {
    if (t.rel_l2 >= 0) {
      using F = detail::Compared<T>;
      F error = 0, size = 0;
      for (int64_t i = 0; i < n; ++i) {
        const F a = static_cast<F>(actual[i]), e = static_cast<F>(expected[i]);
        error += (a - e) * (a - e);
        size += e * e;
      }
      return error <= static_cast<F>(t.rel_l2) * static_cast<F>(t.rel_l2) * size ? -1 : 0;  // a NaN is no agreement
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    if (detail::departs(actual[i], expected[i], t)) return i;
  }
  return -1;
}

}  // namespace onnxc::inline ONNXC_ISA
