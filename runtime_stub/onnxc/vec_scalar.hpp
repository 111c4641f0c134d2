// Vec of one float, for cores without vectors of floats: every operation is one of a scalar, on a plain float, int32_t or bool. With
// types of the vector extensions, g++ for 32-bit ARM and RISC-V would move each value through memory.
//
// What moves values between lanes needs two of them: pairs, sum_pairs, spread and twice are declared alone, so that
// kernels can name them in branches that are not taken, and one that takes such a branch does not link. See vec.hpp.
#pragma once
#include <bit>

#include "base.hpp"
#include "nearest_int.hpp"

namespace onnxc::inline ONNXC_ISA {

#if (defined(__FP_FAST_FMAF) || defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__riscv_flen) || defined(__s390x__)) && \
    !defined(ONNXC_REPRODUCIBLE)
constexpr bool kHasFma = true;
#else
constexpr bool kHasFma = false;
#endif
constexpr bool kHasLaneFma = false, kMaxKeepsNan = false;

struct Mask {
  bool bits;
  ONNXC_INLINE friend Mask operator&(Mask a, Mask b) { return {a.bits && b.bits}; }
  ONNXC_INLINE friend Mask operator|(Mask a, Mask b) { return {a.bits || b.bits}; }
  ONNXC_INLINE friend Mask operator^(Mask a, Mask b) { return {a.bits != b.bits}; }
  ONNXC_INLINE friend Mask operator~(Mask a) { return {!a.bits}; }
  ONNXC_INLINE friend bool any(Mask a) { return a.bits; }
  ONNXC_INLINE friend int count(Mask a) { return a.bits; }
  ONNXC_INLINE friend unsigned lane_bits(Mask a) { return a.bits; }
};

struct Vec {
  static constexpr int width = 1;
  using Raw = float;

  Raw lanes;

  ONNXC_INLINE Raw raw() const { return lanes; }
  static ONNXC_INLINE Vec from_raw(Raw raw) { return {raw}; }

  static ONNXC_INLINE Vec all(float c) { return {c}; }
  static ONNXC_INLINE Vec load(const float* p) { return {*p}; }
  ONNXC_INLINE void store(float* p) const { *p = lanes; }
  static ONNXC_INLINE Vec load(const float* p, int64_t n) { return {n > 0 ? *p : 0.0f}; }
  ONNXC_INLINE void store(float* p, int64_t n) const {
    if (n > 0) *p = lanes;
  }

  ONNXC_INLINE friend Vec operator+(Vec a, Vec b) { return {a.lanes + b.lanes}; }
  ONNXC_INLINE friend Vec operator-(Vec a, Vec b) { return {a.lanes - b.lanes}; }
  ONNXC_INLINE friend Vec operator*(Vec a, Vec b) { return {a.lanes * b.lanes}; }
  ONNXC_INLINE friend Vec operator/(Vec a, Vec b) { return {a.lanes / b.lanes}; }
  ONNXC_INLINE friend Mask operator<(Vec a, Vec b) { return {a.lanes < b.lanes}; }
  ONNXC_INLINE friend Mask operator<=(Vec a, Vec b) { return {a.lanes <= b.lanes}; }
  ONNXC_INLINE friend Mask operator>(Vec a, Vec b) { return {a.lanes > b.lanes}; }
  ONNXC_INLINE friend Mask operator>=(Vec a, Vec b) { return {a.lanes >= b.lanes}; }
  ONNXC_INLINE friend Mask operator==(Vec a, Vec b) { return {a.lanes == b.lanes}; }
  ONNXC_INLINE friend Mask operator!=(Vec a, Vec b) { return {a.lanes != b.lanes}; }
  ONNXC_INLINE friend Vec operator-(Vec x) { return {-x.lanes}; }
};

ONNXC_INLINE Vec abs(Vec x) { return {__builtin_fabsf(x.lanes)}; }
ONNXC_INLINE Vec select(Mask mask, Vec a, Vec b) { return {mask.bits ? a.lanes : b.lanes}; }
ONNXC_INLINE Vec max(Vec a, Vec b) { return {a.lanes > b.lanes ? a.lanes : b.lanes}; }
ONNXC_INLINE Vec min(Vec a, Vec b) { return {a.lanes < b.lanes ? a.lanes : b.lanes}; }

/// Instructions of these cores read no memory beside their load, so no load can be folded; what is left is to keep -ffast-math from
/// cancelling operations around it.
ONNXC_INLINE void pin([[maybe_unused]] Vec& x) {
#if defined(__x86_64__)
  asm("" : "+x"(x.lanes));
#elif defined(ONNXC_FAST_MATH)
  asm("" : "+m"(x.lanes));
#endif
}
ONNXC_INLINE void hold(Vec) {}

ONNXC_INLINE Vec fma(Vec a, Vec b, Vec c) {
  if constexpr (kHasFma) return {__builtin_fmaf(a.lanes, b.lanes, c.lanes)};
  else return a * b + c;
}
ONNXC_INLINE Vec fnma(Vec a, Vec b, Vec c) {
  if constexpr (kHasFma) return {__builtin_fmaf(-a.lanes, b.lanes, c.lanes)};
  else return c - a * b;
}
template <int lane>
ONNXC_INLINE Vec fma_lane(Vec a, Vec b, Vec c) {
  static_assert(lane == 0);
  return fma(a, b, c);
}
ONNXC_INLINE Vec sqrt(Vec x) { return {__builtin_sqrtf(x.lanes)}; }

/// |x| < 2^23: adding and subtracting 2^23 leaves the nearest whole number; larger floats are whole. The sign survives
/// for -0.
ONNXC_INLINE Vec round(Vec x) {
#if defined(__ARM_FEATURE_DIRECTED_ROUNDING) && defined(__ARM_FP)
  return {__builtin_rintf(x.lanes)};  // one instruction
#else
  const Vec magnitude = abs(x), big = Vec::all(8388608.0f);
  Vec shifted = magnitude + big;
  pin(shifted);  // or -ffast-math cancels the pair
  const Vec whole = {__builtin_copysignf((shifted - big).lanes, x.lanes)};
  return select(magnitude < big, whole, x);
#endif
}
ONNXC_INLINE Vec floor(Vec x) {
  const Vec r = round(x);
  return select(r > x, r - Vec::all(1.0f), r);
}
ONNXC_INLINE Vec ceil(Vec x) {
  const Vec r = round(x), up = r + Vec::all(1.0f);
  return {__builtin_copysignf(select(r < x, up, r).lanes, x.lanes)};
}

struct IntVec {
  using Raw = int32_t;
  using Unsigned = uint32_t;
  Raw raw;

  static ONNXC_INLINE IntVec all(int32_t c) { return {c}; }
  static ONNXC_INLINE IntVec of(uint32_t x) { return {static_cast<Raw>(x)}; }
  ONNXC_INLINE Unsigned number() const { return static_cast<Unsigned>(raw); }
  ONNXC_INLINE friend IntVec operator+(IntVec a, IntVec b) { return of(a.number() + b.number()); }
  ONNXC_INLINE friend IntVec operator-(IntVec a, IntVec b) { return of(a.number() - b.number()); }
  ONNXC_INLINE friend IntVec operator*(IntVec a, IntVec b) { return of(a.number() * b.number()); }
  ONNXC_INLINE friend IntVec operator&(IntVec a, IntVec b) { return {a.raw & b.raw}; }
  ONNXC_INLINE friend IntVec operator|(IntVec a, IntVec b) { return {a.raw | b.raw}; }
  ONNXC_INLINE friend IntVec operator^(IntVec a, IntVec b) { return {a.raw ^ b.raw}; }
  ONNXC_INLINE friend IntVec operator~(IntVec a) { return {~a.raw}; }
  ONNXC_INLINE friend IntVec operator<<(IntVec a, int count) { return of(a.number() << count); }
  ONNXC_INLINE friend IntVec operator>>(IntVec a, int count) { return {a.raw >> count}; }  // copies of the sign come in
  ONNXC_INLINE friend Mask operator<(IntVec a, IntVec b) { return {a.raw < b.raw}; }
};

ONNXC_INLINE IntVec bits(Vec x) { return {std::bit_cast<int32_t>(x.lanes)}; }
ONNXC_INLINE Vec from_bits(IntVec x) { return {std::bit_cast<float>(x.raw)}; }
ONNXC_INLINE IntVec truncate(Vec x) { return {static_cast<int32_t>(x.lanes)}; }
inline constexpr bool kToIntGivesLeast = false;
/// Floats in software.
#if (defined(__arm__) && !defined(__ARM_FP)) || (defined(__riscv) && !defined(__riscv_flen))
#define ONNXC_SOFT_FLOATS
#endif
#if (defined(__ARM_FP) && !defined(__aarch64__)) || defined(ONNXC_SOFT_FLOATS)
inline constexpr bool kToIntSaturates = true;  // where x is beyond the range; 0 of NaN
#else
inline constexpr bool kToIntSaturates = false;
#endif
ONNXC_INLINE IntVec to_int(Vec x) {
#if defined(__ARM_FP) && !defined(__aarch64__)
  // The conversion that rounds as all arithmetic does, to the nearest even. Compilers know no other name for it.
  IntVec result;
  asm("vcvtr.s32.f32 %0, %1" : "=t"(result.raw) : "t"(x.lanes));
  return result;
#elif defined(ONNXC_SOFT_FLOATS)
  return {nearest_int(x.lanes)};
#else
  return truncate(round(x));
#endif
}
ONNXC_INLINE Vec to_float(IntVec x) { return {static_cast<float>(x.raw)}; }

ONNXC_INLINE Vec pick(Vec low, Vec high, Vec index) { return (bits(index).raw & 1) == 0 ? low : high; }
ONNXC_INLINE Vec evens(Vec a, Vec) { return a; }
ONNXC_INLINE Vec odds(Vec, Vec b) { return b; }
Vec pairs(const float* p);
Vec sum_pairs(Vec x);
Vec twice(Vec x);
Vec spread(Vec x);

namespace detail {
template <class Op>
ONNXC_INLINE float across(Vec x, Op) {
  return x.lanes;
}
}  // namespace detail

}  // namespace onnxc::inline ONNXC_ISA
