// The machine's part of Vec for Helium, the vectors of Cortex-M55 and M85: the compiler's vectors for arithmetic, and instructions by name
// for what g++ 12 would do lane by lane: comparisons, choices, conversions and parts of vectors. Addresses are multiples of 4. See vec.hpp.
#pragma once
#include "base.hpp"

#include <arm_mve.h>

namespace onnxc::inline ONNXC_ISA {

constexpr bool kHasFma = true;

struct Mask {
  mve_pred16_t bits;  // four for each lane
  ONNXC_INLINE friend Mask operator&(Mask a, Mask b) { return {static_cast<mve_pred16_t>(a.bits & b.bits)}; }
  ONNXC_INLINE friend Mask operator|(Mask a, Mask b) { return {static_cast<mve_pred16_t>(a.bits | b.bits)}; }
  ONNXC_INLINE friend Mask operator^(Mask a, Mask b) { return {static_cast<mve_pred16_t>(a.bits ^ b.bits)}; }
  ONNXC_INLINE friend Mask operator~(Mask a) { return {static_cast<mve_pred16_t>(~a.bits)}; }
  ONNXC_INLINE friend bool any(Mask a) { return a.bits != 0; }
  ONNXC_INLINE friend unsigned lane_bits(Mask a) {
    const unsigned one = a.bits & 0x1111u;
    return (one | one >> 3 | one >> 6 | one >> 9) & 15u;
  }
  ONNXC_INLINE friend int count(Mask a) { return __builtin_popcount(lane_bits(a)); }
};

struct Vec {
  static constexpr int width = kVectorFloats;
  typedef float Raw __attribute__((vector_size(4 * width)));

  Raw lanes;

  ONNXC_INLINE Raw raw() const { return lanes; }
  static ONNXC_INLINE Vec from_raw(Raw raw) { return {raw}; }

  static ONNXC_INLINE Vec all(float c) { return {vdupq_n_f32(c)}; }
  static ONNXC_INLINE Vec load(const float* p) { return {vldrwq_f32(p)}; }
  ONNXC_INLINE void store(float* p) const { vstrwq_f32(p, lanes); }
  static ONNXC_INLINE Vec load(const float* p, int64_t n) { return {vldrwq_z_f32(p, vctp32q(static_cast<uint32_t>(n)))}; }
  ONNXC_INLINE void store(float* p, int64_t n) const { vstrwq_p_f32(p, lanes, vctp32q(static_cast<uint32_t>(n))); }

  ONNXC_INLINE friend Vec operator+(Vec a, Vec b) { return {a.lanes + b.lanes}; }
  ONNXC_INLINE friend Vec operator-(Vec a, Vec b) { return {a.lanes - b.lanes}; }
  ONNXC_INLINE friend Vec operator*(Vec a, Vec b) { return {a.lanes * b.lanes}; }
  ONNXC_INLINE friend Vec operator/(Vec a, Vec b) { return {a.lanes / b.lanes}; }
  ONNXC_INLINE friend Mask operator<(Vec a, Vec b) { return {vcmpltq_f32(a.lanes, b.lanes)}; }
  ONNXC_INLINE friend Mask operator<=(Vec a, Vec b) { return {vcmpleq_f32(a.lanes, b.lanes)}; }
  ONNXC_INLINE friend Mask operator>(Vec a, Vec b) { return {vcmpgtq_f32(a.lanes, b.lanes)}; }
  ONNXC_INLINE friend Mask operator>=(Vec a, Vec b) { return {vcmpgeq_f32(a.lanes, b.lanes)}; }
  ONNXC_INLINE friend Mask operator==(Vec a, Vec b) { return {vcmpeqq_f32(a.lanes, b.lanes)}; }
  ONNXC_INLINE friend Mask operator!=(Vec a, Vec b) { return {vcmpneq_f32(a.lanes, b.lanes)}; }
};

ONNXC_INLINE Vec fma(Vec a, Vec b, Vec c) { return {vfmaq_f32(c.lanes, a.lanes, b.lanes)}; }
ONNXC_INLINE Vec fnma(Vec a, Vec b, Vec c) { return {vfmsq_f32(c.lanes, a.lanes, b.lanes)}; }
/// A factor of a whole vector stays in a register of the core, and each multiply-add broadcasts it.
struct Factor {
  float value;
};
ONNXC_INLINE Factor factor(float x) { return {x}; }
ONNXC_INLINE Vec fma(Factor a, Vec b, Vec c) { return {vfmaq_n_f32(c.lanes, b.lanes, a.value)}; }
ONNXC_INLINE Vec select(Mask mask, Vec a, Vec b) { return {vpselq_f32(a.lanes, b.lanes, mask.bits)}; }
// VMAXNM returns the number where one operand is NaN, so the general max is a comparison and a choice.
ONNXC_INLINE Vec max(Vec a, Vec b) { return select(a > b, a, b); }
ONNXC_INLINE Vec min(Vec a, Vec b) { return select(a < b, a, b); }
ONNXC_INLINE Vec sqrt(Vec x) {
  Vec::Raw r = x.lanes;
  for (int i = 0; i < Vec::width; ++i) r[i] = __builtin_sqrtf(r[i]);
  return {r};
}
ONNXC_INLINE Vec round(Vec x) { return {vrndnq_f32(x.lanes)}; }
ONNXC_INLINE Vec floor(Vec x) { return {vrndmq_f32(x.lanes)}; }
ONNXC_INLINE Vec ceil(Vec x) { return {vrndpq_f32(x.lanes)}; }
ONNXC_INLINE void pin(Vec& x) { asm("" : "+w"(x.lanes)); }
ONNXC_INLINE void hold(Vec) {}

}  // namespace onnxc::inline ONNXC_ISA
