// The machine's part of Vec by the vector extensions of GCC and Clang, for every machine that they compile for. See
// vec.hpp.
#pragma once
#include "base.hpp"

namespace onnxc::inline ONNXC_ISA {

#if (defined(__FP_FAST_FMAF) || defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__riscv_flen) || defined(__s390x__)) && \
    !defined(ONNXC_REPRODUCIBLE)
constexpr bool kHasFma = true;
#else
constexpr bool kHasFma = false;
#endif

struct Mask {
  typedef int32_t Raw __attribute__((vector_size(4 * kVectorFloats)));
  Raw bits;  // all ones or all zeros in each lane
  ONNXC_INLINE friend Mask operator&(Mask a, Mask b) { return {a.bits & b.bits}; }
  ONNXC_INLINE friend Mask operator|(Mask a, Mask b) { return {a.bits | b.bits}; }
  ONNXC_INLINE friend Mask operator^(Mask a, Mask b) { return {a.bits ^ b.bits}; }
  ONNXC_INLINE friend Mask operator~(Mask a) { return {~a.bits}; }
  ONNXC_INLINE friend bool any(Mask a) {
    int32_t found = 0;
    for (int i = 0; i < kVectorFloats; ++i) found |= a.bits[i];
    return found != 0;
  }
  ONNXC_INLINE friend int count(Mask a) {
    int32_t set = 0;
    for (int i = 0; i < kVectorFloats; ++i) set -= a.bits[i];
    return set;
  }
  ONNXC_INLINE friend unsigned lane_bits(Mask a) {
    unsigned set = 0;
    for (int i = 0; i < kVectorFloats; ++i) set |= static_cast<unsigned>(a.bits[i] & 1) << i;
    return set;
  }
};

struct Vec {
  static constexpr int width = kVectorFloats;
  typedef float Raw __attribute__((vector_size(4 * width)));

  Raw lanes;

  ONNXC_INLINE Raw raw() const { return lanes; }
  static ONNXC_INLINE Vec from_raw(Raw raw) { return {raw}; }

  static ONNXC_INLINE Vec all(float c) { return {c - Raw{}}; }  // minus: -0 + 0 would be 0
// Where a constant array is shorter than a vector, a branch that is not taken for it looks as if it read beyond.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Warray-bounds"
#endif
  static ONNXC_INLINE Vec load(const float* p) {
    Vec x;
    __builtin_memcpy(&x, p, sizeof x);
    return x;
  }
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
  ONNXC_INLINE void store(float* p) const { __builtin_memcpy(p, &lanes, sizeof lanes); }
  static ONNXC_INLINE Vec load(const float* p, int64_t n) {
    float values[width] = {};
    for (int64_t i = 0; i < n; ++i) values[i] = p[i];
    return load(values);
  }
  ONNXC_INLINE void store(float* p, int64_t n) const {
    float values[width];
    store(values);
    for (int64_t i = 0; i < n; ++i) p[i] = values[i];
  }

  ONNXC_INLINE friend Vec operator+(Vec a, Vec b) { return {a.lanes + b.lanes}; }
  ONNXC_INLINE friend Vec operator-(Vec a, Vec b) { return {a.lanes - b.lanes}; }
  ONNXC_INLINE friend Vec operator*(Vec a, Vec b) { return {a.lanes * b.lanes}; }
  ONNXC_INLINE friend Vec operator/(Vec a, Vec b) { return {a.lanes / b.lanes}; }
  ONNXC_INLINE friend Mask operator<(Vec a, Vec b) { return {(Mask::Raw)(a.lanes < b.lanes)}; }
  ONNXC_INLINE friend Mask operator<=(Vec a, Vec b) { return {(Mask::Raw)(a.lanes <= b.lanes)}; }
  ONNXC_INLINE friend Mask operator>(Vec a, Vec b) { return {(Mask::Raw)(a.lanes > b.lanes)}; }
  ONNXC_INLINE friend Mask operator>=(Vec a, Vec b) { return {(Mask::Raw)(a.lanes >= b.lanes)}; }
  ONNXC_INLINE friend Mask operator==(Vec a, Vec b) { return {(Mask::Raw)(a.lanes == b.lanes)}; }
  ONNXC_INLINE friend Mask operator!=(Vec a, Vec b) { return {(Mask::Raw)(a.lanes != b.lanes)}; }
};

ONNXC_INLINE Vec select(Mask mask, Vec a, Vec b) {
  return {(Vec::Raw)((mask.bits & (Mask::Raw)a.lanes) | (~mask.bits & (Mask::Raw)b.lanes))};
}
ONNXC_INLINE Vec max(Vec a, Vec b) { return select(a > b, a, b); }
ONNXC_INLINE Vec min(Vec a, Vec b) { return select(a < b, a, b); }

#if defined(__x86_64__)
ONNXC_INLINE void pin(Vec& x) { asm("" : "+x"(x.lanes)); }
ONNXC_INLINE void hold(Vec x) { asm("" : : "x"(x.lanes)); }
#elif defined(__aarch64__) || defined(__ARM_FEATURE_MVE)
ONNXC_INLINE void pin(Vec& x) { asm("" : "+w"(x.lanes)); }
ONNXC_INLINE void hold(Vec x) { asm("" : : "w"(x.lanes)); }
#else
/// Loads are instructions of their own, and cannot be folded. What is left is to keep -ffast-math from cancelling operations.
ONNXC_INLINE void pin([[maybe_unused]] Vec& x) {
#if defined(ONNXC_FAST_MATH)
  asm("" : "+m"(x.lanes));
#endif
}
ONNXC_INLINE void hold(Vec) {}
#endif

namespace detail {
template <class F>
ONNXC_INLINE Vec lane_by_lane(F&& f) {
  Vec r = Vec::all(0.0f);
  for (int i = 0; i < Vec::width; ++i) r.lanes[i] = f(i);
  return r;
}
}  // namespace detail

// Where compilers have no name for the instruction on a whole vector, lanes go one by one, and it is for the compiler to join them: a
// product and a sum of vectors would be rounded once or twice, as its options have it.
#if defined(__ARM_FEATURE_MVE) && !defined(ONNXC_REPRODUCIBLE)
ONNXC_INLINE Vec fma(Vec a, Vec b, Vec c) {
  asm("vfma.f32 %q0, %q1, %q2" : "+w"(c.lanes) : "w"(a.lanes), "w"(b.lanes));
  return c;
}
ONNXC_INLINE Vec fnma(Vec a, Vec b, Vec c) {
  asm("vfms.f32 %q0, %q1, %q2" : "+w"(c.lanes) : "w"(a.lanes), "w"(b.lanes));
  return c;
}
#elif defined(__clang__) && __has_builtin(__builtin_elementwise_fma)
ONNXC_INLINE Vec fma(Vec a, Vec b, Vec c) {
  if constexpr (kHasFma) return {__builtin_elementwise_fma(a.lanes, b.lanes, c.lanes)};
  else return a * b + c;
}
ONNXC_INLINE Vec fnma(Vec a, Vec b, Vec c) {
  if constexpr (kHasFma) return {__builtin_elementwise_fma(-a.lanes, b.lanes, c.lanes)};
  else return c - a * b;
}
#else
ONNXC_INLINE Vec fma(Vec a, Vec b, Vec c) {
  if constexpr (kHasFma)
    return detail::lane_by_lane([&](int i) ONNXC_SMALL_LAMBDA { return __builtin_fmaf(a.lanes[i], b.lanes[i], c.lanes[i]); });
  else return a * b + c;
}
ONNXC_INLINE Vec fnma(Vec a, Vec b, Vec c) {
  if constexpr (kHasFma)
    return detail::lane_by_lane([&](int i) ONNXC_SMALL_LAMBDA { return __builtin_fmaf(-a.lanes[i], b.lanes[i], c.lanes[i]); });
  else return c - a * b;
}
#endif
ONNXC_INLINE Vec sqrt(Vec x) {
  return detail::lane_by_lane([&](int i) ONNXC_SMALL_LAMBDA { return __builtin_sqrtf(x.lanes[i]); });
}
/// |x| < 2^23: adding and subtracting 2^23 leaves the nearest whole number; larger floats are whole. The sign survives
/// for -0.
ONNXC_INLINE Vec round(Vec x) {
  const Mask::Raw sign = (Mask::Raw)x.lanes & (Mask::Raw)Vec::all(-0.0f).lanes;
  const Vec magnitude = {(Vec::Raw)((Mask::Raw)x.lanes ^ sign)}, big = Vec::all(8388608.0f);
  Vec shifted = magnitude + big;
  pin(shifted);  // or -ffast-math cancels the pair
  const Vec whole = {(Vec::Raw)((Mask::Raw)(shifted - big).lanes | sign)};
  return select(magnitude < big, whole, x);
}
ONNXC_INLINE Vec floor(Vec x) {
  const Vec r = round(x);
  return select(r > x, r - Vec::all(1.0f), r);
}
ONNXC_INLINE Vec ceil(Vec x) {
  const Vec r = round(x), up = r + Vec::all(1.0f);
  const Mask::Raw sign = (Mask::Raw)x.lanes & (Mask::Raw)Vec::all(-0.0f).lanes;
  return {(Vec::Raw)((Mask::Raw)select(r < x, up, r).lanes | sign)};
}

}  // namespace onnxc
