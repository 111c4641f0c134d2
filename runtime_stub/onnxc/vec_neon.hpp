// The machine's part of Vec for AArch64: the compiler's vectors for arithmetic, and instructions by name for what these
// lack. See vec.hpp. The names are those of <arm_neon.h>, although it takes a unit long to read: the names that g++ and
// Clang have beneath it change from one release to the next.
#pragma once
#include "base.hpp"

#include <arm_neon.h>

namespace onnxc::inline ONNXC_ISA {

constexpr bool kHasFma = true, kHasLaneFma = true, kMaxKeepsNan = true;

struct Mask {
  uint32x4_t bits;  // all ones or all zeros in each lane
  ONNXC_INLINE friend Mask operator&(Mask a, Mask b) { return {a.bits & b.bits}; }
  ONNXC_INLINE friend Mask operator|(Mask a, Mask b) { return {a.bits | b.bits}; }
  ONNXC_INLINE friend Mask operator^(Mask a, Mask b) { return {a.bits ^ b.bits}; }
  ONNXC_INLINE friend Mask operator~(Mask a) { return {~a.bits}; }
  ONNXC_INLINE friend bool any(Mask a) { return vmaxvq_u32(a.bits) != 0; }
  ONNXC_INLINE friend int count(Mask a) { return static_cast<int>(vaddvq_u32(vshrq_n_u32(a.bits, 31))); }
  ONNXC_INLINE friend unsigned lane_bits(Mask a) { return vaddvq_u32(a.bits & uint32x4_t{1, 2, 4, 8}); }
};

struct Vec {
  static constexpr int width = kVectorFloats;
  typedef float Raw __attribute__((vector_size(4 * width)));

  Raw lanes;

  ONNXC_INLINE Raw raw() const { return lanes; }
  static ONNXC_INLINE Vec from_raw(Raw raw) { return {raw}; }

  static ONNXC_INLINE Vec all(float c) { return {vdupq_n_f32(c)}; }
  static ONNXC_INLINE Vec load(const float* p) { return {vld1q_f32(p)}; }
  ONNXC_INLINE void store(float* p) const { vst1q_f32(p, lanes); }
  /// The n lanes are at most a pair and one more.
  static ONNXC_INLINE Vec load(const float* p, int64_t n) {
    if (n >= width) return load(p);
    float32x4_t x = vdupq_n_f32(0.0f);
    if (n == 1) return {vld1q_lane_f32(p, x, 0)};
    if (n >= 2) x = vcombine_f32(vld1_f32(p), vdup_n_f32(0.0f));
    if (n == 3) x = vld1q_lane_f32(p + 2, x, 2);
    return {x};
  }
  ONNXC_INLINE void store(float* p, int64_t n) const {
    if (n >= width) return store(p);
    if (n == 1) vst1q_lane_f32(p, lanes, 0);
    if (n >= 2) vst1_f32(p, vget_low_f32(lanes));
    if (n == 3) vst1q_lane_f32(p + 2, lanes, 2);
  }

  ONNXC_INLINE friend Vec operator+(Vec a, Vec b) { return {a.lanes + b.lanes}; }
  ONNXC_INLINE friend Vec operator-(Vec a, Vec b) { return {a.lanes - b.lanes}; }
  ONNXC_INLINE friend Vec operator*(Vec a, Vec b) { return {a.lanes * b.lanes}; }
  ONNXC_INLINE friend Vec operator/(Vec a, Vec b) { return {a.lanes / b.lanes}; }
  ONNXC_INLINE friend Mask operator<(Vec a, Vec b) { return {vcltq_f32(a.lanes, b.lanes)}; }
  ONNXC_INLINE friend Mask operator<=(Vec a, Vec b) { return {vcleq_f32(a.lanes, b.lanes)}; }
  ONNXC_INLINE friend Mask operator>(Vec a, Vec b) { return {vcgtq_f32(a.lanes, b.lanes)}; }
  ONNXC_INLINE friend Mask operator>=(Vec a, Vec b) { return {vcgeq_f32(a.lanes, b.lanes)}; }
  ONNXC_INLINE friend Mask operator==(Vec a, Vec b) { return {vceqq_f32(a.lanes, b.lanes)}; }
  ONNXC_INLINE friend Mask operator!=(Vec a, Vec b) { return {~vceqq_f32(a.lanes, b.lanes)}; }
};

ONNXC_INLINE Vec fma(Vec a, Vec b, Vec c) { return {vfmaq_f32(c.lanes, a.lanes, b.lanes)}; }
ONNXC_INLINE Vec fnma(Vec a, Vec b, Vec c) { return {vfmsq_f32(c.lanes, a.lanes, b.lanes)}; }
/// c + a[lane] * b. Broadcasting loads in its place would compete with the multiply-adds for the same units.
template <int lane>
ONNXC_INLINE Vec fma_lane(Vec a, Vec b, Vec c) {
  return {vfmaq_laneq_f32(c.lanes, b.lanes, a.lanes, lane)};
}

ONNXC_INLINE Vec select(Mask mask, Vec a, Vec b) { return {vbslq_f32(mask.bits, a.lanes, b.lanes)}; }
// FMAX and FMIN return NaN where either operand is one, so the general max takes two instructions, and max_or_nan one.
ONNXC_INLINE Vec max(Vec a, Vec b) { return select(a > b, a, b); }
ONNXC_INLINE Vec min(Vec a, Vec b) { return select(a < b, a, b); }
ONNXC_INLINE Vec max_or_nan(Vec a, Vec b) { return {vmaxq_f32(a.lanes, b.lanes)}; }
ONNXC_INLINE Vec min_or_nan(Vec a, Vec b) { return {vminq_f32(a.lanes, b.lanes)}; }
ONNXC_INLINE Vec sqrt(Vec x) { return {vsqrtq_f32(x.lanes)}; }
ONNXC_INLINE Vec pick(Vec low, Vec high, Vec index) {
  const uint8x16x2_t bytes = {{vreinterpretq_u8_f32(low.lanes), vreinterpretq_u8_f32(high.lanes)}};
  const uint32x4_t lane = vandq_u32(vreinterpretq_u32_f32(index.lanes), vdupq_n_u32(7));
  return {vreinterpretq_f32_u8(vqtbl2q_u8(bytes, vreinterpretq_u8_u32(vmlaq_n_u32(vdupq_n_u32(0x03020100), lane, 0x04040404))))};
}
ONNXC_INLINE Vec round(Vec x) { return {vrndnq_f32(x.lanes)}; }
ONNXC_INLINE Vec floor(Vec x) { return {vrndmq_f32(x.lanes)}; }
ONNXC_INLINE Vec ceil(Vec x) { return {vrndpq_f32(x.lanes)}; }
ONNXC_INLINE void pin(Vec& x) { asm("" : "+w"(x.lanes)); }
ONNXC_INLINE void hold(Vec x) { asm("" : : "w"(x.lanes)); }

}  // namespace onnxc::inline ONNXC_ISA
