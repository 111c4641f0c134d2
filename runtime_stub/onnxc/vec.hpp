// Vec: a vector of floats of the widest instruction set that is enabled, on one small interface for all machines.
//
//   Vec::width                      floats in a vector: 16 (AVX-512), 8 (AVX), 4, or 1; see ONNXC_VECTOR_FLOATS in isa.hpp
//   Vec::load(p), x.store(p)        any alignment
//   Vec::load(p, n), x.store(p, n)  lanes [0, n) alone, 0 <= n <= width; no byte from p + n on is touched, other lanes load as 0
//   Vec::all(c)                     c in every lane
//   a + b, a - b, a * b, a / b, -a  one IEEE operation a lane
//   fma(a, b, c), fnma(a, b, c)     a*b + c and c - a*b, rounded once where the machine has it (kHasFma), else twice
//   factor(x)                       x as the factor of several vectors: fma(factor(x), b, c)
//   max(a, b), min(a, b)            a > b ? a : b and a < b ? a : b: where a lane of either is NaN, b
//   max_or_nan, min_or_nan(a, b)    where a lane of either is NaN, NaN; one instruction where kMaxKeepsNan
//   fma_lane<i>(a, b, c)            a[i]*b + c; one instruction where kHasLaneFma
//   a < b, <=, >, >=, ==, !=        Mask; &, |, ^, ~ of masks; select(mask, a, b) = mask ? a : b
//   round(x), floor, ceil           round: half to even
//   abs, sqrt, copysign             as in <cmath>
//   to_int(x), truncate(x), to_float(i)   to_int: the nearest integer; truncate: the next one toward 0
//   bits(x), from_bits(i)           IntVec of int32 lanes with + - & | ^ ~ << >> <
//   count(mask), lane_bits(mask)    how many lanes of a mask are set; a bit for each, that of lane 0 lowest
//   quotient(a, b)                  a / b, perhaps not the nearest float, for values far from the ends of the range
//   pairs(p)                        p[0] and p[1] in turn; this and the next three need two lanes or more
//   sum_pairs(x)                    lane i is x[2i] + x[2i + 1], for the first width / 2 lanes i
//   spread(x), twice(x)             spread: lane 2i is x[i], the next one 0; twice: both are x[i]
//   pick(low, high, index)          lane i is the lane of low, then high, that bits(index)[i] modulo 2 * width tells; a few
//                                   instructions from AVX2 on and with NEON
//   scale(x, n), sum(x)             x * 2^n; the sum over the lanes
//   pin(x)                          keeps x in a register, where g++ would fold its load into each operation that uses it
//   hold(x)                         needs x in a register at that point, and does not change it
//
// fn::max and its like, with ONNX's rule for NaN, are in vfn.hpp.
//
// x86 from SSE4.1 on and AArch64 use intrinsics for what the vector extensions of GCC and Clang lack. Everything else,
// and -DONNXC_NO_INTRINSICS, uses the extensions alone. xsimd would not do: its batches are built by noexcept functions
// around calls that are not, so code without exceptions would need the C++ library's handler for them, and its headers
// lengthen the compilation of every unit.
#pragma once
#include "base.hpp"

#if (__ARM_FEATURE_MVE & 2) && !defined(ONNXC_NO_INTRINSICS)
#define ONNXC_HELIUM 1  // vectors of floats, by name
#endif

#if ONNXC_VECTOR_FLOATS == 1
#include "vec_scalar.hpp"
#else
#if defined(__SSE4_1__) && !defined(ONNXC_NO_INTRINSICS)
#include "vec_x86.hpp"
#elif defined(__aarch64__) && !defined(ONNXC_NO_INTRINSICS)
#include "vec_neon.hpp"
#elif defined(ONNXC_HELIUM)
#include "vec_helium.hpp"
#else
#include "vec_generic.hpp"
#endif
#include "vec_lanes.hpp"
#endif

#define ONNXC_UNROLL _Pragma("GCC unroll 64")
#if defined(__CUDACC__)
#pragma nv_diag_suppress 1675  // nvcc does not know this pragma, and hands it to the host's compiler, which does
#endif

namespace onnxc::inline ONNXC_ISA {

/// Lane k is lane at[k] of a, or of b behind it. nvcc's front end (13.0) leaves out that a pack is expanded where it is an
/// argument of this builtin function, so for it the lanes are named one by one.
template <int... at, class V>
ONNXC_INLINE auto shuffle(V a, V b) {
#if !defined(__CUDACC__)
  return __builtin_shufflevector(a, b, at...);
#else
#define ONNXC_LANES_4(i)  k[i], k[(i) + 1], k[(i) + 2], k[(i) + 3]
#define ONNXC_LANES_16(i) ONNXC_LANES_4(i), ONNXC_LANES_4((i) + 4), ONNXC_LANES_4((i) + 8), ONNXC_LANES_4((i) + 12)
  constexpr int n = sizeof...(at), k[] = {at...};
  static_assert(n == 4 || n == 8 || n == 16 || n == 32 || n == 64);
  if constexpr (n == 4) return __builtin_shufflevector(a, b, ONNXC_LANES_4(0));
  else if constexpr (n == 8) return __builtin_shufflevector(a, b, ONNXC_LANES_4(0), ONNXC_LANES_4(4));
  else if constexpr (n == 16) return __builtin_shufflevector(a, b, ONNXC_LANES_16(0));
  else if constexpr (n == 32) return __builtin_shufflevector(a, b, ONNXC_LANES_16(0), ONNXC_LANES_16(16));
  else return __builtin_shufflevector(a, b, ONNXC_LANES_16(0), ONNXC_LANES_16(16), ONNXC_LANES_16(32), ONNXC_LANES_16(48));
#undef ONNXC_LANES_4
#undef ONNXC_LANES_16
#endif
}

ONNXC_INLINE Vec copysign(Vec magnitude, Vec sign) {
  return from_bits((bits(magnitude) & IntVec::all(INT32_MAX)) | (bits(sign) & IntVec::all(INT32_MIN)));
}

#if !defined(ONNXC_HELIUM)
ONNXC_INLINE Vec factor(float x) { return Vec::all(x); }
#endif

#if !defined(__aarch64__) || defined(ONNXC_NO_INTRINSICS)
/// max returns its second operand where either is NaN, so a NaN in the first is put back.
ONNXC_INLINE Vec max_or_nan(Vec a, Vec b) { return select(a == a, max(a, b), a); }
ONNXC_INLINE Vec min_or_nan(Vec a, Vec b) { return select(a == a, min(a, b), a); }
#endif

#if !defined(__AVX512F__) || defined(ONNXC_NO_INTRINSICS)
/// x * 2^n for whole n in [-252, 254], in two steps, since 2^n alone may not be a float. Adding 1.5 * 2^23 leaves n in
/// the low bits. Where n is NaN it leaves some bits, while a conversion to int would be undefined.
ONNXC_INLINE Vec scale(Vec x, Vec n) {
  const Vec magic = Vec::all(12582912.0f);
  const IntVec whole = bits(n + magic) - bits(magic), half = whole >> 1, bias = IntVec::all(127);
  return x * from_bits((half + bias) << 23) * from_bits((whole - half + bias) << 23);
}
ONNXC_INLINE Vec quotient(Vec a, Vec b) { return a / b; }
#endif
ONNXC_INLINE float sum(Vec x) {
  return detail::across(x, [](Vec a, Vec b) ONNXC_INLINE_LAMBDA { return a + b; });
}

/// A constant of an expression. It converts to a vector, and stays recognisable as one value where that is cheaper (see
/// fn::max).
struct Constant {
  float value;
  ONNXC_INLINE operator Vec() const { return Vec::all(value); }
};

/// One of i32, for vec_integers.hpp.
struct IntegerConstant {
  int32_t value;
};

/// Makes the constants of an expression when it runs on vectors: the counterpart of Scalar.
struct Lanes {
  ONNXC_INLINE Constant operator()(float value) const { return {value}; }
  ONNXC_INLINE IntegerConstant operator()(int32_t value) const { return {value}; }
  ONNXC_INLINE Mask operator()(bool value) const { return value ? Vec::all(0.0f) == Vec::all(0.0f) : Vec::all(0.0f) != Vec::all(0.0f); }
};

/// Number of vectors that hold n floats.
constexpr int64_t vectors(int64_t n) { return (n + Vec::width - 1) / Vec::width; }

}  // namespace onnxc
