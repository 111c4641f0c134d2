// Small floats: float16, bfloat16, the four float8, float8e8m0 and float4e2m1; and the integers of 4 and 2 bits, one a
// byte. They are for storage: values are computed in float (in int) and rounded (truncated to the low bits) once.
//
// A format is a row of numbers, and one pair of functions serves all rows. With m the significand as an integer, a value is m * 2^(e - M),
// and codes of one sign count up by one from quantum to quantum, through subnormals, normals and into infinity:
//
//   float8e4m3fn, M = 3, bias 7:   code 0x07 = 7 * 2^-9   0x08 = 8 * 2^-9   0x0f = 15 * 2^-9   0x10 = 8 * 2^-8
//                                  ...   0x7e = 448   0x7f = NaN
//
// so `code = ((e - e_min) << M) + m` even when rounding m carries over. Conversions are exact (round to nearest even,
// single rounding
// from double too) and constexpr.
//
// The types are the same for all instruction sets, since interfaces show them; so their conversions are always inlined.
#pragma once
#include <bit>
#include <cstdint>
#include <type_traits>

#include "isa.hpp"

namespace onnxc {

/// What to do with values beyond the largest finite one: ONNX Cast's `saturate`.
enum class Overflow { saturate, special };

template <class T>
concept small_float = requires { T::kMantissaBits; };

template <class T>
concept small_integer = requires { T::kIntegerBits; };

}  // namespace onnxc

namespace onnxc::inline ONNXC_ISA::detail {

#if defined(__F16C__) && !defined(__CUDA_ARCH__)
// VCVTPS2PH (mode 0: half to even) and VCVTPH2PS by the names that g++ and Clang share, because <immintrin.h> makes
// every unit slower to compile. Not in device code, which has no vectors.
typedef float Floats4 __attribute__((vector_size(16)));
typedef short Halves8 __attribute__((vector_size(16)));
#endif

template <class T>
struct Ieee;
template <>
struct Ieee<float> {
  using Bits = uint32_t;
  static constexpr int kMantissaBits = 23, kBias = 127, kExponentMask = 0xff;
};
template <>
struct Ieee<double> {
  using Bits = uint64_t;
  static constexpr int kMantissaBits = 52, kBias = 1023, kExponentMask = 0x7ff;
};

/// The code of x in format F.
template <class F, class Source>
constexpr uint32_t encode(Source x, Overflow overflow) {
  using S = Ieee<Source>;
  using Bits = typename S::Bits;
  const Bits bits = std::bit_cast<Bits>(x);
  const uint32_t sign = (bits >> (sizeof(Bits) * 8 - 1)) != 0 ? F::kSignBit : 0;
  const int field = static_cast<int>((bits >> S::kMantissaBits) & S::kExponentMask);
  const Bits fraction = bits & ((Bits{1} << S::kMantissaBits) - 1);
  if (field == S::kExponentMask && fraction != 0) return F::kUnsignedZero ? F::kNan : sign | F::kNan;
  uint32_t code = F::kMax + 1;
  if (field != S::kExponentMask) {
    const Bits significand = field != 0 ? fraction | (Bits{1} << S::kMantissaBits) : fraction;
    const int exponent = (field != 0 ? field : 1) - S::kBias, min_exponent = 1 - F::kBias;
    const int e = exponent < min_exponent ? min_exponent : exponent;
    const int shift = S::kMantissaBits - F::kMantissaBits + (e - exponent);
    Bits m = 0;
    if (shift <= S::kMantissaBits + 2) {
      const Bits half = Bits{1} << (shift - 1), rest = significand & ((half << 1) - 1);
      m = significand >> shift;
      if (rest > half || (rest == half && (m & 1) != 0)) ++m;
    }
    const Bits wide = (static_cast<Bits>(e - min_exponent) << F::kMantissaBits) + m;
    if (wide <= F::kMax) code = static_cast<uint32_t>(wide);
  }
  if (code > F::kMax) {
    if (overflow == Overflow::saturate) return sign | F::kMax;
    return F::kUnsignedZero ? F::kSpecial : sign | F::kSpecial;
  }
  return code == 0 && F::kUnsignedZero ? 0 : sign | code;
}

template <class F>
constexpr float decode(uint32_t code) {
  const uint32_t magnitude = code & (F::kSignBit - 1), sign = (code & F::kSignBit) != 0 ? 0x80000000u : 0;
  if (F::kUnsignedZero ? code == F::kNan : magnitude > F::kSpecial || (magnitude > F::kMax && F::kSpecial == F::kNan))
    return std::bit_cast<float>(sign | 0x7fc00000u);
  if (magnitude > F::kMax) return std::bit_cast<float>(sign | 0x7f800000u);
  const uint32_t field = magnitude >> F::kMantissaBits, fraction = magnitude & ((1u << F::kMantissaBits) - 1);
  if (field != 0) return std::bit_cast<float>(sign | ((field + 127 - F::kBias) << 23) | (fraction << (23 - F::kMantissaBits)));
  const float quantum = std::bit_cast<float>(static_cast<uint32_t>(127 + 1 - F::kBias - F::kMantissaBits) << 23);
  return (sign != 0 ? -1.0f : 1.0f) * (static_cast<float>(fraction) * quantum);
}

}  // namespace onnxc::inline ONNXC_ISA::detail

namespace onnxc {

/// One sign bit, `Exponent` bits, `Mantissa` bits. `Max` is the code of the largest finite value, `Special` the code that overflow gives
/// (infinity where there is one), `Nan` the code of NaN. UnsignedZero: the "fnuz" formats, whose only NaN is the code of -0.
template <class Storage, int Exponent, int Mantissa, int Bias, uint32_t Max, uint32_t Special, uint32_t Nan, bool UnsignedZero = false>
struct SmallFloat {
  static constexpr int kMantissaBits = Mantissa, kBias = Bias;
  static constexpr uint32_t kSignBit = 1u << (Exponent + Mantissa), kMax = Max, kSpecial = Special, kNan = Nan;
  static constexpr bool kUnsignedZero = UnsignedZero;

  Storage bits = 0;

  constexpr SmallFloat() = default;
  ONNXC_BOTH constexpr explicit SmallFloat(float x) : bits(static_cast<Storage>(detail::encode<SmallFloat>(x, Overflow::special))) {}
  ONNXC_BOTH constexpr explicit SmallFloat(double x) : bits(static_cast<Storage>(detail::encode<SmallFloat>(x, Overflow::special))) {}
  ONNXC_BOTH constexpr SmallFloat(float x, Overflow overflow) : bits(static_cast<Storage>(detail::encode<SmallFloat>(x, overflow))) {}
  ONNXC_BOTH constexpr SmallFloat(double x, Overflow overflow) : bits(static_cast<Storage>(detail::encode<SmallFloat>(x, overflow))) {}
  static constexpr SmallFloat from_bits(Storage code) {
    SmallFloat x;
    x.bits = code;
    return x;
  }
  ONNXC_BOTH constexpr explicit operator float() const { return detail::decode<SmallFloat>(bits); }
  ONNXC_BOTH constexpr explicit operator double() const { return static_cast<double>(static_cast<float>(*this)); }
};

using float8e4m3fn = SmallFloat<uint8_t, 4, 3, 7, 0x7e, 0x7f, 0x7f>;
using float8e4m3fnuz = SmallFloat<uint8_t, 4, 3, 8, 0x7f, 0x80, 0x80, true>;
using float8e5m2 = SmallFloat<uint8_t, 5, 2, 15, 0x7b, 0x7c, 0x7e>;
using float8e5m2fnuz = SmallFloat<uint8_t, 5, 2, 16, 0x7f, 0x80, 0x80, true>;
/// No infinity and no NaN: infinity becomes the largest value, NaN -0. One a byte, in the low four bits.
using float4e2m1 = SmallFloat<uint8_t, 2, 1, 1, 0x7, 0x7, 0x8>;

/// An integer of 4 or 2 bits in a byte of its own. Made from an int it keeps the low bits, as ONNX's Cast does; it is
/// held sign-extended.
template <int Bits, class Storage>
struct SmallInteger {
  static constexpr int kIntegerBits = Bits;

  Storage bits = 0;

  constexpr SmallInteger() = default;
  ONNXC_BOTH constexpr explicit SmallInteger(int x) : bits(narrow(x)) {}
  /// The element whose code is the low bits of `code`, as a packed element is read.
  static constexpr SmallInteger from_bits(uint8_t code) { return SmallInteger(static_cast<int>(code)); }
  ONNXC_BOTH constexpr explicit operator int() const { return static_cast<int>(bits); }

 private:
  static constexpr Storage narrow(int x) {
    constexpr int kEnd = 1 << Bits, kHalf = kEnd / 2;
    const int code = x & (kEnd - 1);
    return static_cast<Storage>(std::is_signed_v<Storage> && code >= kHalf ? code - kEnd : code);
  }
};

using int4 = SmallInteger<4, int8_t>;
using uint4 = SmallInteger<4, uint8_t>;
using int2 = SmallInteger<2, int8_t>;
using uint2 = SmallInteger<2, uint8_t>;

/// bfloat16: the upper half of a float.
struct bfloat16 {
  static constexpr int kMantissaBits = 7, kBias = 127;
  static constexpr uint32_t kSignBit = 0x8000, kMax = 0x7f7f, kSpecial = 0x7f80, kNan = 0x7fc0;
  static constexpr bool kUnsignedZero = false;

  uint16_t bits = 0;

  constexpr bfloat16() = default;
  ONNXC_BOTH constexpr explicit bfloat16(float x) {
    const uint32_t u = std::bit_cast<uint32_t>(x);
    bits = static_cast<uint16_t>((u & 0x7fffffffu) > 0x7f800000u ? (u >> 16) | 0x40u : (u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
  }
  ONNXC_BOTH constexpr explicit bfloat16(double x) : bits(static_cast<uint16_t>(detail::encode<bfloat16>(x, Overflow::special))) {}
  static constexpr bfloat16 from_bits(uint16_t code) {
    bfloat16 x;
    x.bits = code;
    return x;
  }
  ONNXC_BOTH constexpr explicit operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
  ONNXC_BOTH constexpr explicit operator double() const { return static_cast<double>(static_cast<float>(*this)); }
};

/// float16: IEEE binary16.
struct float16 {
  static constexpr int kMantissaBits = 10, kBias = 15;
  static constexpr uint32_t kSignBit = 0x8000, kMax = 0x7bff, kSpecial = 0x7c00, kNan = 0x7e00;
  static constexpr bool kUnsignedZero = false;

  uint16_t bits = 0;

  constexpr float16() = default;
  ONNXC_BOTH constexpr explicit float16(float x) {
#if defined(__F16C__) && !defined(__CUDA_ARCH__)
    if (!std::is_constant_evaluated()) {
      bits = static_cast<uint16_t>(__builtin_ia32_vcvtps2ph(detail::Floats4{x, 0, 0, 0}, 0)[0]);
      return;
    }
#elif defined(__CUDA_ARCH__)
    if (!std::is_constant_evaluated()) {
      asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
      return;
    }
#endif
    bits = static_cast<uint16_t>(detail::encode<float16>(x, Overflow::special));
  }
  ONNXC_BOTH constexpr explicit float16(double x) : bits(static_cast<uint16_t>(detail::encode<float16>(x, Overflow::special))) {}
  static constexpr float16 from_bits(uint16_t code) {
    float16 x;
    x.bits = code;
    return x;
  }
  ONNXC_BOTH constexpr explicit operator float() const {
#if defined(__F16C__) && !defined(__CUDA_ARCH__)
    if (!std::is_constant_evaluated()) return __builtin_ia32_vcvtph2ps(detail::Halves8{static_cast<short>(bits), 0, 0, 0, 0, 0, 0, 0})[0];
#elif defined(__CUDA_ARCH__)
    if (!std::is_constant_evaluated()) {
      float x = 0;
      asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
      return x;
    }
#endif
    return detail::decode<float16>(bits);
  }
  ONNXC_BOTH constexpr explicit operator double() const { return static_cast<double>(static_cast<float>(*this)); }
};

/// float8e8m0: a power of two, 2^(bits - 127); 0xff is NaN. No sign, no zero.
struct float8e8m0 {
  uint8_t bits = 0;
  enum class Round { up, down, nearest };

  constexpr float8e8m0() = default;
  /// The sign of x is dropped. Values beyond the range become its ends; infinity does too when `overflow` saturates,
  /// else it becomes NaN.
  ONNXC_BOTH constexpr explicit float8e8m0(float x, Round round = Round::up, Overflow overflow = Overflow::saturate) {
    const uint32_t u = std::bit_cast<uint32_t>(x) & 0x7fffffffu, fraction = u & 0x7fffffu;
    uint32_t field = u >> 23;
    if (u > 0x7f800000u || (u == 0x7f800000u && overflow == Overflow::special)) {
      bits = 0xff;
      return;
    }
    if (field == 0) {  // 2^-127 is the subnormal 0x400000
      if ((round == Round::up && fraction > 0x400000u) || (round == Round::nearest && fraction >= 0x600000u)) field = 1;
    } else if ((round == Round::up && fraction != 0) || (round == Round::nearest && fraction >= 0x400000u)) {
      ++field;
    }
    if (field > 0xfe) field = overflow == Overflow::saturate ? 0xfe : 0xff;
    bits = static_cast<uint8_t>(field);
  }
  static constexpr float8e8m0 from_bits(uint8_t code) {
    float8e8m0 x;
    x.bits = code;
    return x;
  }
  ONNXC_BOTH constexpr explicit operator float() const {
    if (bits == 0xff) return std::bit_cast<float>(0x7fc00000u);
    return std::bit_cast<float>(bits == 0 ? 0x400000u : static_cast<uint32_t>(bits) << 23);
  }
};

/// A complex number, as ONNX stores it. It is only moved, compared, and tested for zero.
template <class Real>
struct Complex {
  Real real = 0, imaginary = 0;
  friend constexpr bool operator==(const Complex&, const Complex&) = default;
  /// Orders by the real part, then by the imaginary one, as numpy sorts.
  friend constexpr bool operator<(const Complex& a, const Complex& b) {
    return a.real < b.real || (a.real == b.real && a.imaginary < b.imaginary);
  }
};
using complex64 = Complex<float>;
using complex128 = Complex<double>;

}  // namespace onnxc
