// The machine's part of Vec for x86 from SSE4.1 on: the compiler's vectors for arithmetic, and instructions by name for
// what these lack. See vec.hpp.
#pragma once
#include "base.hpp"

#if defined(__AVX__) && defined(__GNUC__) && !defined(__clang__)
#include "x86_gcc.hpp"
#else
#include "x86_intrinsics.hpp"
#endif

namespace onnxc::inline ONNXC_ISA {

struct Mask {
  x86::Lanes bits;
  ONNXC_INLINE friend Mask operator&(Mask a, Mask b) { return {static_cast<x86::Lanes>(a.bits & b.bits)}; }
  ONNXC_INLINE friend Mask operator|(Mask a, Mask b) { return {static_cast<x86::Lanes>(a.bits | b.bits)}; }
  ONNXC_INLINE friend Mask operator^(Mask a, Mask b) { return {static_cast<x86::Lanes>(a.bits ^ b.bits)}; }
  ONNXC_INLINE friend Mask operator~(Mask a) { return {static_cast<x86::Lanes>(~a.bits)}; }
  ONNXC_INLINE friend bool any(Mask a) { return x86::any(a.bits); }
  ONNXC_INLINE friend int count(Mask a) { return __builtin_popcount(x86::lane_bits(a.bits)); }
  ONNXC_INLINE friend unsigned lane_bits(Mask a) { return x86::lane_bits(a.bits); }
};

struct Vec {
  static constexpr int width = kVectorFloats;
  using Raw = x86::Floats;

  Raw lanes;

  ONNXC_INLINE Raw raw() const { return lanes; }
  static ONNXC_INLINE Vec from_raw(Raw raw) { return {raw}; }

  static ONNXC_INLINE Vec all(float c) { return {c - Raw{}}; }  // minus: -0 + 0 would be 0
// Whether an array has a whole vector left is decided outside of the load. g++ 12 inlines both and, where the answer is
// no at every call, may warn of the load all the same.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Warray-bounds"
#endif
#if defined(__AVX512F__)
  static ONNXC_INLINE Vec load(const float* p) {
    Vec x;
    __builtin_memcpy(&x, p, sizeof x);
    return x;
  }
  ONNXC_INLINE void store(float* p) const { __builtin_memcpy(p, &lanes, sizeof lanes); }
#else
  // Not memcpy: g++ 12 makes it a move of an integer of 256 bits, which may reach a register of floats by way of the
  // stack.
  typedef Raw Anywhere __attribute__((aligned(4), may_alias));
  static ONNXC_INLINE Vec load(const float* p) { return {*reinterpret_cast<const Anywhere*>(p)}; }
  ONNXC_INLINE void store(float* p) const { *reinterpret_cast<Anywhere*>(p) = lanes; }
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
  static ONNXC_INLINE Vec load(const float* p, int64_t n) { return {x86::load(p, n)}; }
  ONNXC_INLINE void store(float* p, int64_t n) const { x86::store(p, n, lanes); }

  ONNXC_INLINE friend Vec operator+(Vec a, Vec b) { return {a.lanes + b.lanes}; }
  ONNXC_INLINE friend Vec operator-(Vec a, Vec b) { return {a.lanes - b.lanes}; }
  ONNXC_INLINE friend Vec operator*(Vec a, Vec b) { return {a.lanes * b.lanes}; }
  ONNXC_INLINE friend Vec operator/(Vec a, Vec b) { return {a.lanes / b.lanes}; }
// The second name is the predicate of VCMPPS: ordered comparisons are false for NaN and raise nothing, != is true for it.
#if defined(__AVX512F__)
#define ONNXC_COMPARE(symbol, predicate) \
  ONNXC_INLINE friend Mask operator symbol(Vec a, Vec b) { return {x86::compare<predicate>(a.lanes, b.lanes)}; }
#else
#define ONNXC_COMPARE(symbol, predicate) \
  ONNXC_INLINE friend Mask operator symbol(Vec a, Vec b) { return {(x86::Lanes)(a.lanes symbol b.lanes)}; }
#endif
  ONNXC_COMPARE(<, 0x11)   // LT_OQ
  ONNXC_COMPARE(<=, 0x12)  // LE_OQ
  ONNXC_COMPARE(>, 0x1e)   // GT_OQ
  ONNXC_COMPARE(>=, 0x1d)  // GE_OQ
  ONNXC_COMPARE(==, 0x00)  // EQ_OQ
  ONNXC_COMPARE(!=, 0x04)  // NEQ_UQ
#undef ONNXC_COMPARE
};

#if defined(__AVX512F__) || defined(__FMA__)
constexpr bool kHasFma = true;
ONNXC_INLINE Vec fma(Vec a, Vec b, Vec c) { return {x86::fma(a.lanes, b.lanes, c.lanes)}; }
ONNXC_INLINE Vec fnma(Vec a, Vec b, Vec c) { return {x86::fnma(a.lanes, b.lanes, c.lanes)}; }
#else
constexpr bool kHasFma = false;
ONNXC_INLINE Vec fma(Vec a, Vec b, Vec c) { return a * b + c; }
ONNXC_INLINE Vec fnma(Vec a, Vec b, Vec c) { return c - a * b; }
#endif

ONNXC_INLINE Vec select(Mask mask, Vec a, Vec b) { return {x86::select(mask.bits, a.lanes, b.lanes)}; }
ONNXC_INLINE Vec max(Vec a, Vec b) { return {x86::max(a.lanes, b.lanes)}; }
ONNXC_INLINE Vec min(Vec a, Vec b) { return {x86::min(a.lanes, b.lanes)}; }
ONNXC_INLINE Vec sqrt(Vec x) { return {x86::sqrt(x.lanes)}; }
// The immediate of ROUNDPS and VRNDSCALEPS: the mode, and 8 to raise no inexact exception.
ONNXC_INLINE Vec round(Vec x) { return {x86::round < 0 | 8 > (x.lanes)}; }
ONNXC_INLINE Vec floor(Vec x) { return {x86::round < 1 | 8 > (x.lanes)}; }
ONNXC_INLINE Vec ceil(Vec x) { return {x86::round < 2 | 8 > (x.lanes)}; }
#if defined(__AVX512F__)
/// 1 / x within a relative error of 2^-14.
ONNXC_INLINE Vec reciprocal_14(Vec x) { return {x86::reciprocal_14(x.lanes)}; }
/// Whether a division is faster than the four short instructions that can replace it. It is where the divider takes few
/// cycles beside the multiply-add ports, as from Zen 4 on; on Intel's processors it takes more. Zen 3 is in the list
/// because compilers from before 2023 have no name for Zen 4: with AVX-512, their Zen 3 is one.
#if defined(__znver3__) || defined(__znver4__) || defined(__znver5__)
inline constexpr bool kDivides = true;
#else
inline constexpr bool kDivides = false;
#endif
/// a / b within 0.6 ULP, for quotients and b far from the ends of the range. Functions with two forms are templates of
/// the form, so that tests reach both on every machine.
template <bool divides = kDivides>
ONNXC_INLINE Vec quotient(Vec a, Vec b) {
  if constexpr (divides) return a / b;
  const Vec r = reciprocal_14(b), q = a * r;
  return fma(fnma(b, q, a), r, q);
}
ONNXC_INLINE Vec pick(Vec low, Vec high, Vec index) { return {x86::pick(low.lanes, high.lanes, (x86::Ints)index.lanes)}; }
/// x * 2^n, rounded once; only the whole part of n counts.
ONNXC_INLINE Vec scale(Vec x, Vec n) { return {x86::scale(x.lanes, n.lanes)}; }
ONNXC_INLINE void pin(Vec& x) { asm("" : "+v"(x.lanes)); }
ONNXC_INLINE void hold(Vec x) { asm("" : : "v"(x.lanes)); }
#else
#if defined(__AVX2__)
ONNXC_INLINE Vec pick(Vec low, Vec high, Vec index) { return {x86::pick(low.lanes, high.lanes, (x86::Ints)index.lanes)}; }
#endif
ONNXC_INLINE void pin(Vec& x) { asm("" : "+x"(x.lanes)); }
ONNXC_INLINE void hold(Vec x) { asm("" : : "x"(x.lanes)); }
#endif

}  // namespace onnxc::inline ONNXC_ISA
