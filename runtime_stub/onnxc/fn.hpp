// The functions that expressions are made of, on single values of every element type: bool, (u)int8..64, float, double, small floats.
// vfn.hpp overloads them for vectors.
//
// Defined for all arguments, never undefined behaviour:
//   integers wrap; x / 0 = x mod 0 = 0; INT_MIN / -1 = INT_MIN; a shift by the width or more gives 0;
//   min and max propagate NaN; a cast out of range saturates, of NaN gives 0; integer to integer wraps.
// Small floats are computed in float and rounded once. Floats are as accurate as the C library (glibc: 1-2 ULP, sqrt and arithmetic exact).
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base.hpp"
#include "types.hpp"

namespace onnxc::inline ONNXC_ISA::fn {

template <class T>
concept floating = std::is_same_v<T, float> || std::is_same_v<T, double>;
template <class T>
concept integer = std::is_integral_v<T> && !std::is_same_v<T, bool>;
template <class T>
concept scalar = floating<T> || integer<T> || std::is_same_v<T, bool> || small_float<T>;
/// What Cast takes: the types above, and those that are only stored.
template <class T>
concept element = scalar<T> || small_integer<T> || std::is_same_v<T, float8e8m0>;

namespace detail {
/// An unsigned type in which T's arithmetic wraps without promotion to int.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
template <class T>
constexpr Wrapping<T> wrapping(T x) {
  return static_cast<Wrapping<T>>(x);
}
template <class T>
using Unsigned = std::make_unsigned_t<T>;
}  // namespace detail

// ---- casts

/// x as a T. `overflow` concerns float8 and float4 alone; float16 and bfloat16 overflow to infinity.
template <class T, Overflow overflow = Overflow::saturate, class X>
  requires element<T> && element<X>
ONNXC_BOTH constexpr T cast(X x) {
  if constexpr (std::is_same_v<T, X>) {
    return x;
  } else if constexpr (small_integer<X>) {
    return cast<T, overflow>(static_cast<int32_t>(static_cast<int>(x)));
  } else if constexpr (std::is_same_v<X, float8e8m0>) {
    return cast<T, overflow>(static_cast<float>(x));
  } else if constexpr (small_integer<T>) {  // the low bits of the integer
    if constexpr (floating<X> || small_float<X>) return T(static_cast<int>(cast<int32_t>(x)));
    else return T(static_cast<int>(static_cast<uint32_t>(x) & 15u));
  } else if constexpr (std::is_same_v<T, float8e8m0>) {
    return float8e8m0(cast<float>(x), float8e8m0::Round::up, overflow);
  } else if constexpr (small_float<X>) {
    return cast<T, overflow>(static_cast<float>(x));
  } else if constexpr (std::is_same_v<T, bool>) {
    return x != X(0);
  } else if constexpr (small_float<T>) {
    using Via = std::conditional_t<floating<X>, X, std::conditional_t<(sizeof(X) < 4), float, double>>;
    if constexpr (sizeof(T) == 1) return T(static_cast<Via>(x), overflow);
    else return T(static_cast<Via>(x));
  } else if constexpr (floating<X> && integer<T>) {
    using Limits = std::numeric_limits<T>;
    constexpr X low = static_cast<X>(Limits::min());                        // a power of two or zero: exact
    constexpr X end = X(2) * static_cast<X>(T(1) << (Limits::digits - 1));  // one past the largest: exact
    return x >= end ? Limits::max() : x > low ? static_cast<T>(x) : x != x ? T(0) : Limits::min();
  } else {
    return static_cast<T>(x);
  }
}

/// Cast with saturate=0: what is beyond the largest float8 becomes infinity or NaN. For float8e8m0, roundings other
/// than `up` have names of their own.
template <class T, element X>
ONNXC_BOTH constexpr T cast_special(X x) {
  return cast<T, Overflow::special>(x);
}
template <class T, element X>
ONNXC_BOTH constexpr T cast_down(X x) {
  return T(cast<float>(x), T::Round::down, Overflow::saturate);
}
template <class T, element X>
ONNXC_BOTH constexpr T cast_nearest(X x) {
  return T(cast<float>(x), T::Round::nearest, Overflow::saturate);
}
template <class T, element X>
ONNXC_BOTH constexpr T cast_special_down(X x) {
  return T(cast<float>(x), T::Round::down, Overflow::special);
}
template <class T, element X>
ONNXC_BOTH constexpr T cast_special_nearest(X x) {
  return T(cast<float>(x), T::Round::nearest, Overflow::special);
}

// ---- arithmetic

#define ONNXC_FLOAT_UNARY(name, expression) \
  template <floating T>                     \
  ONNXC_BOTH T name(T x) {                  \
    return expression;                      \
  }                                         \
  template <small_float T>                  \
  ONNXC_BOTH T name(T x) {                  \
    return T(name(static_cast<float>(x)));  \
  }
#define ONNXC_SMALL_UNARY(name)            \
  template <small_float T>                 \
  ONNXC_BOTH constexpr T name(T x) {       \
    return T(name(static_cast<float>(x))); \
  }
#define ONNXC_SMALL_BINARY(name)                                  \
  template <small_float T>                                        \
  ONNXC_BOTH T name(T a, T b) {                                   \
    return T(name(static_cast<float>(a), static_cast<float>(b))); \
  }
#define ONNXC_ARITHMETIC(name, symbol)                                     \
  template <floating T>                                                    \
  ONNXC_BOTH constexpr T name(T a, T b) {                                  \
    return a symbol b;                                                     \
  }                                                                        \
  template <integer T>                                                     \
  ONNXC_BOTH constexpr T name(T a, T b) {                                  \
    return static_cast<T>(detail::wrapping(a) symbol detail::wrapping(b)); \
  }                                                                        \
  ONNXC_SMALL_BINARY(name)

ONNXC_ARITHMETIC(add, +)
ONNXC_ARITHMETIC(sub, -)
ONNXC_ARITHMETIC(mul, *)

template <floating T>
ONNXC_BOTH constexpr T div(T a, T b) {
  return a / b;
}
/// Truncates toward zero.
template <integer T>
ONNXC_BOTH constexpr T div(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return sub(T(0), a);
  }
  return static_cast<T>(a / b);
}
ONNXC_SMALL_BINARY(div)

/// The remainder with the sign of the dividend: C's %.
template <floating T>
ONNXC_BOTH T fmod(T a, T b) {
  return std::fmod(a, b);
}
template <integer T>
ONNXC_BOTH constexpr T fmod(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
  }
  return static_cast<T>(a % b);
}
ONNXC_SMALL_BINARY(fmod)

/// The remainder with the sign of the divisor, also of a zero: Python's %.
template <integer T>
ONNXC_BOTH constexpr T mod(T a, T b) {
  const T r = fn::fmod(a, b);
  if constexpr (std::is_signed_v<T>) return r != 0 && (r < 0) != (b < 0) ? static_cast<T>(r + b) : r;
  else return r;
}
template <floating T>
ONNXC_BOTH T mod(T a, T b) {
  const T r = std::fmod(a, b);
  if (r == T(0)) return std::copysign(r, b);
  return (r < T(0)) != (b < T(0)) ? r + b : r;
}
ONNXC_SMALL_BINARY(mod)

template <floating T>
ONNXC_BOTH constexpr T neg(T x) {
  return -x;
}
template <integer T>
ONNXC_BOTH constexpr T neg(T x) {
  return sub(T(0), x);
}
ONNXC_SMALL_UNARY(neg)

template <floating T>
ONNXC_BOTH T abs(T x) {
  return std::fabs(x);
}
template <integer T>
ONNXC_BOTH constexpr T abs(T x) {
  if constexpr (std::is_signed_v<T>) return x < 0 ? neg(x) : x;
  else return x;
}
template <small_float T>
ONNXC_BOTH T abs(T x) {
  return T(fn::abs(static_cast<float>(x)));
}

template <floating T>
ONNXC_BOTH constexpr T sign(T x) {
  return x > T(0) ? T(1) : x < T(0) ? T(-1) : x == T(0) ? T(0) : x;
}
template <integer T>
ONNXC_BOTH constexpr T sign(T x) {
  return static_cast<T>((x > T(0)) - (x < T(0)));
}
ONNXC_SMALL_UNARY(sign)

template <class T>
  requires floating<T> || integer<T>
ONNXC_BOTH constexpr T max(T a, T b) {
  return a >= b || a != a ? a : b;
}
ONNXC_SMALL_BINARY(max)
template <class T>
  requires floating<T> || integer<T>
ONNXC_BOTH constexpr T min(T a, T b) {
  return a <= b || a != a ? a : b;
}
ONNXC_SMALL_BINARY(min)
/// min(max(x, low), high)
template <scalar T>
ONNXC_BOTH constexpr T clip(T x, T low, T high) {
  return fn::min(fn::max(x, low), high);
}
template <scalar T>
ONNXC_BOTH constexpr T relu(T x) {
  return fn::max(x, T{});
}

/// base^exponent, computed in double unless both are integers; an integer base with an integer exponent wraps, and with a negative one is
/// 1/base truncated (0 for base 0).
template <class T, class U>
  requires scalar<T> && scalar<U>
ONNXC_BOTH T pow(T base, U exponent) {
  if constexpr (small_float<T>) {
    return T(fn::pow(static_cast<float>(base), exponent));
  } else if constexpr (small_float<U>) {
    return fn::pow(base, static_cast<float>(exponent));
  } else if constexpr (integer<T> && integer<U>) {
    if constexpr (std::is_signed_v<U>) {
      if (exponent < 0)
        return base == T(1) ? T(1) : static_cast<T>(base + T(1)) == T(0) && std::is_signed_v<T> ? T(exponent % 2 == 0 ? 1 : -1) : T(0);
    }
    detail::Wrapping<T> result = 1, square = detail::wrapping(base);
    for (auto e = static_cast<uint64_t>(exponent); e != 0; e >>= 1, square *= square) {
      if ((e & 1) != 0) result *= square;
    }
    return static_cast<T>(result);
  } else if constexpr (std::is_same_v<T, float> && std::is_same_v<U, float>) {
    return std::pow(base, exponent);
  } else {
    return cast<T>(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
}

// ---- functions of the reals

/// 0 for what lies below the smallest normal number, as exp and softmax return it.
template <class T>
ONNXC_BOTH constexpr T flushed(T x) {
  return x < std::numeric_limits<T>::min() ? T(0) : x;
}

ONNXC_FLOAT_UNARY(ceil, std::ceil(x))
ONNXC_FLOAT_UNARY(floor, std::floor(x))
ONNXC_FLOAT_UNARY(round, std::nearbyint(x)) /* half to even, in the default rounding mode */
/// What QuantizeLinear computes: x / scale, rounded, plus zero, as a T. Vectors have it without a division, see vec_integers.hpp.
template <integer T>
ONNXC_BOTH constexpr T quantize(float x, float scale, float zero) {
  return cast<T>(fn::round(x / scale) + zero);
}
/// What DequantizeLinear makes of that before it multiplies, for bytes: a whole number from -zero to 255 - zero.
ONNXC_BOTH constexpr float byte_steps(float x, float scale, float zero) {
  return static_cast<float>(quantize<uint8_t>(x, scale, zero)) - zero;
}
ONNXC_FLOAT_UNARY(sqrt, std::sqrt(x))
ONNXC_FLOAT_UNARY(exp, flushed(std::exp(x)))
ONNXC_FLOAT_UNARY(log, std::log(x))
ONNXC_FLOAT_UNARY(sin, std::sin(x))
ONNXC_FLOAT_UNARY(cos, std::cos(x))
ONNXC_FLOAT_UNARY(tan, std::tan(x))
ONNXC_FLOAT_UNARY(asin, std::asin(x))
ONNXC_FLOAT_UNARY(acos, std::acos(x))
ONNXC_FLOAT_UNARY(atan, std::atan(x))
ONNXC_FLOAT_UNARY(sinh, std::sinh(x))
ONNXC_FLOAT_UNARY(cosh, std::cosh(x))
ONNXC_FLOAT_UNARY(tanh, std::tanh(x))
ONNXC_FLOAT_UNARY(asinh, std::asinh(x))
ONNXC_FLOAT_UNARY(acosh, std::acosh(x))
ONNXC_FLOAT_UNARY(atanh, std::atanh(x))
ONNXC_FLOAT_UNARY(erf, std::erf(x))
ONNXC_FLOAT_UNARY(erf_plus_one, std::erfc(-x))
ONNXC_FLOAT_UNARY(reciprocal, T(1) / x)
/* exp of a negative number only, so that nothing overflows on the way */
ONNXC_FLOAT_UNARY(sigmoid, x >= T(0) ? T(1) / (T(1) + std::exp(-x)) : std::exp(x) / (T(1) + std::exp(x)))
/// x * sigmoid(y)
template <class T>
  requires requires(T y) { sigmoid(y); }
ONNXC_BOTH constexpr T gate(T x, T y) {
  return mul(x, sigmoid(y));
}
/// The same from u = -y log2(e), as exp(-y) = 2^u. y is not used, because it is rounded once more than u, and far from
/// 0 that is a factor of the result.
template <class T>
  requires requires(T y) { sigmoid(y); }
ONNXC_BOTH constexpr T gate_exp2(T x, [[maybe_unused]] T y, T u) {
  const T e = std::exp2(u > T(0) ? -u : u);
  return mul(x, (u > T(0) ? e : T(1)) / (T(1) + e));
}
/* log(1 + exp(x)) */
ONNXC_FLOAT_UNARY(softplus, x > T(0) ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)))

// ---- tests and comparisons

template <floating T>
ONNXC_BOTH constexpr bool is_nan(T x) {
  return x != x;
}
template <floating T>
ONNXC_BOTH constexpr bool is_pos_inf(T x) {
  return x > std::numeric_limits<T>::max();
}
template <floating T>
ONNXC_BOTH constexpr bool is_neg_inf(T x) {
  return x < std::numeric_limits<T>::lowest();
}
template <floating T>
ONNXC_BOTH constexpr bool is_inf(T x) {
  return is_pos_inf(x) || is_neg_inf(x);
}
#define ONNXC_SMALL_TEST(name)          \
  template <small_float T>              \
  ONNXC_BOTH constexpr bool name(T x) { \
    return name(static_cast<float>(x)); \
  }
ONNXC_SMALL_TEST(is_nan)
ONNXC_SMALL_TEST(is_pos_inf)
ONNXC_SMALL_TEST(is_neg_inf)
ONNXC_SMALL_TEST(is_inf)

#define ONNXC_COMPARISON(name, symbol)                                                       \
  template <scalar T>                                                                        \
  ONNXC_BOTH constexpr bool name(T a, T b) {                                                 \
    if constexpr (small_float<T>) return static_cast<float>(a) symbol static_cast<float>(b); \
    else return a symbol b;                                                                  \
  }
ONNXC_COMPARISON(equal, ==)
ONNXC_COMPARISON(less, <)
ONNXC_COMPARISON(less_equal, <=)
ONNXC_COMPARISON(greater, >)
ONNXC_COMPARISON(greater_equal, >=)

template <element T>
ONNXC_BOTH constexpr T where(bool condition, T a, T b) {
  return condition ? a : b;
}

// ---- strings: operators that only move elements treat them like any other element

ONNXC_INLINE bool equal(onnxc_string a, onnxc_string b) {
  return a.size == b.size && (a.size == 0 || __builtin_memcmp(a.data, b.data, a.size) == 0);
}
ONNXC_INLINE onnxc_string where(bool condition, onnxc_string a, onnxc_string b) { return condition ? a : b; }

// ---- complex numbers: only what operators that move elements may do to them

template <class Real>
ONNXC_BOTH constexpr Complex<Real> where(bool condition, Complex<Real> a, Complex<Real> b) {
  return condition ? a : b;
}
template <class Real>
ONNXC_BOTH constexpr Complex<Real> add(Complex<Real> a, Complex<Real> b) {
  return {a.real + b.real, a.imaginary + b.imaginary};
}
template <class Real>
ONNXC_BOTH constexpr Complex<Real> mul(Complex<Real> a, Complex<Real> b) {
  return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
}

// ---- logic and bits

ONNXC_BOTH constexpr bool logical_and(bool a, bool b) { return a && b; }
ONNXC_BOTH constexpr bool logical_or(bool a, bool b) { return a || b; }
ONNXC_BOTH constexpr bool logical_xor(bool a, bool b) { return a != b; }
ONNXC_BOTH constexpr bool logical_not(bool a) { return !a; }

template <integer T>
ONNXC_BOTH constexpr T bit_and(T a, T b) {
  return static_cast<T>(a & b);
}
template <integer T>
ONNXC_BOTH constexpr T bit_or(T a, T b) {
  return static_cast<T>(a | b);
}
template <integer T>
ONNXC_BOTH constexpr T bit_xor(T a, T b) {
  return static_cast<T>(a ^ b);
}
template <integer T>
ONNXC_BOTH constexpr T bit_not(T a) {
  return static_cast<T>(~a);
}
template <integer T>
ONNXC_BOTH constexpr T shift_left(T a, T count) {
  using U = detail::Unsigned<T>;
  return static_cast<U>(count) < sizeof(T) * 8 ? static_cast<T>(detail::wrapping(a) << static_cast<U>(count)) : T(0);
}
/// Signed types keep their sign: -8 >> 1 = -4. A shift by the width or more, or a negative one, leaves 0 or -1.
template <integer T>
ONNXC_BOTH constexpr T shift_right(T a, T count) {
  using U = detail::Unsigned<T>;
  constexpr U kLast = sizeof(T) * 8 - 1;
  if constexpr (std::is_signed_v<T>) return static_cast<T>(a >> (static_cast<U>(count) < kLast ? static_cast<U>(count) : kLast));
  return static_cast<U>(count) <= kLast ? static_cast<T>(a >> static_cast<U>(count)) : T(0);
}

#undef ONNXC_FLOAT_UNARY
#undef ONNXC_SMALL_UNARY
#undef ONNXC_SMALL_BINARY
#undef ONNXC_ARITHMETIC
#undef ONNXC_SMALL_TEST
#undef ONNXC_COMPARISON

}  // namespace onnxc::fn
