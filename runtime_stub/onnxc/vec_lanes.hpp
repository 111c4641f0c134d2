// What Vec needs of vectors of two lanes or more: lanes of int32 for work on the bits of floats, and moves between lanes, by
// the vector extensions of GCC and Clang. See vec.hpp.
#pragma once
#include "base.hpp"

namespace onnxc::inline ONNXC_ISA {

/// int32 lanes, for work on the bits of floats. Arithmetic wraps.
struct IntVec {
  typedef int32_t Raw __attribute__((vector_size(4 * Vec::width)));
  typedef uint32_t Unsigned __attribute__((vector_size(4 * Vec::width)));
  Raw raw;

  static ONNXC_INLINE IntVec all(int32_t c) { return {Raw{} + c}; }
  ONNXC_INLINE friend IntVec operator+(IntVec a, IntVec b) { return {(Raw)((Unsigned)a.raw + (Unsigned)b.raw)}; }
  ONNXC_INLINE friend IntVec operator-(IntVec a, IntVec b) { return {(Raw)((Unsigned)a.raw - (Unsigned)b.raw)}; }
  ONNXC_INLINE friend IntVec operator*(IntVec a, IntVec b) { return {(Raw)((Unsigned)a.raw * (Unsigned)b.raw)}; }
  ONNXC_INLINE friend IntVec operator&(IntVec a, IntVec b) { return {a.raw & b.raw}; }
  ONNXC_INLINE friend IntVec operator|(IntVec a, IntVec b) { return {a.raw | b.raw}; }
  ONNXC_INLINE friend IntVec operator^(IntVec a, IntVec b) { return {a.raw ^ b.raw}; }
  ONNXC_INLINE friend IntVec operator~(IntVec a) { return {~a.raw}; }
  ONNXC_INLINE friend IntVec operator<<(IntVec a, int count) { return {(Raw)((Unsigned)a.raw << count)}; }
  ONNXC_INLINE friend IntVec operator>>(IntVec a, int count) { return {a.raw >> count}; }  // copies of the sign come in
};

#if defined(__AVX512F__) && !defined(ONNXC_NO_INTRINSICS)
ONNXC_INLINE Mask operator<(IntVec a, IntVec b) { return {x86::less(a.raw, b.raw)}; }
#elif defined(ONNXC_HELIUM)
ONNXC_INLINE Mask operator<(IntVec a, IntVec b) { return {vcmpltq_s32((int32x4_t)a.raw, (int32x4_t)b.raw)}; }
#else
ONNXC_INLINE Mask operator<(IntVec a, IntVec b) { return {(decltype(Mask::bits))(a.raw < b.raw)}; }
#endif

ONNXC_INLINE IntVec bits(Vec x) { return {(IntVec::Raw)x.raw()}; }
ONNXC_INLINE Vec from_bits(IntVec x) { return Vec::from_raw((Vec::Raw)x.raw); }
/// Rounded toward 0; |x| < 2^31, not NaN.
#if defined(ONNXC_HELIUM)
ONNXC_INLINE IntVec truncate(Vec x) { return {(IntVec::Raw)vcvtq_s32_f32(x.raw())}; }
ONNXC_INLINE Vec to_float(IntVec x) { return {vcvtq_f32_s32((int32x4_t)x.raw)}; }
#else
ONNXC_INLINE IntVec truncate(Vec x) { return {__builtin_convertvector(x.raw(), IntVec::Raw)}; }
ONNXC_INLINE Vec to_float(IntVec x) { return Vec::from_raw(__builtin_convertvector(x.raw, Vec::Raw)); }
#endif
/// The nearest whole number, half to even; |x| < 2^31, not NaN.
#if defined(__SSE4_1__) && !defined(ONNXC_NO_INTRINSICS)
inline constexpr bool kToIntGivesLeast = true;  // where x is less than that, greater than any, or NaN
#else
inline constexpr bool kToIntGivesLeast = false;
#endif
#if defined(ONNXC_HELIUM)
inline constexpr bool kToIntSaturates = true;  // where x is beyond the range; 0 of NaN
#else
inline constexpr bool kToIntSaturates = false;
#endif
ONNXC_INLINE IntVec to_int(Vec x) {
#if defined(__SSE4_1__) && !defined(ONNXC_NO_INTRINSICS)
  return {x86::nearest(x.raw())};
#elif (defined(__aarch64__) && !defined(ONNXC_NO_INTRINSICS)) || defined(ONNXC_HELIUM)
  return {(IntVec::Raw)vcvtnq_s32_f32(x.raw())};
#else
  return truncate(round(x));
#endif
}

ONNXC_INLINE Vec operator-(Vec x) { return from_bits(bits(x) ^ IntVec::all(INT32_MIN)); }
ONNXC_INLINE Vec abs(Vec x) { return from_bits(bits(x) & IntVec::all(INT32_MAX)); }

#if !defined(__aarch64__) || defined(ONNXC_NO_INTRINSICS)
constexpr bool kHasLaneFma = false, kMaxKeepsNan = false;
template <int lane>
ONNXC_INLINE Vec fma_lane(Vec a, Vec b, Vec c) {
  return fma(Vec::all(a.raw()[lane]), b, c);
}
#endif

#if (!defined(__AVX2__) && !defined(__aarch64__)) || defined(ONNXC_NO_INTRINSICS)
ONNXC_INLINE Vec pick(Vec low, Vec high, Vec index) {
  const IntVec lane = bits(index) & IntVec::all(2 * Vec::width - 1);
  float from[2 * Vec::width], to[Vec::width];
  low.store(from);
  high.store(from + Vec::width);
  for (int i = 0; i < Vec::width; ++i) to[i] = from[lane.raw[i]];
  return Vec::load(to);
}
#endif
namespace detail {
/// Lane i becomes lane i ^ step. A template of the raw type, so that the branches for other widths are not compiled.
template <int step, class Raw>
ONNXC_INLINE Raw swap_lanes(Raw x) {
  if constexpr (sizeof(Raw) == 64)
    return __builtin_shufflevector(x, x, 0 ^ step, 1 ^ step, 2 ^ step, 3 ^ step, 4 ^ step, 5 ^ step, 6 ^ step, 7 ^ step, 8 ^ step, 9 ^ step,
                                   10 ^ step, 11 ^ step, 12 ^ step, 13 ^ step, 14 ^ step, 15 ^ step);
  else if constexpr (sizeof(Raw) == 32)
    return __builtin_shufflevector(x, x, 0 ^ step, 1 ^ step, 2 ^ step, 3 ^ step, 4 ^ step, 5 ^ step, 6 ^ step, 7 ^ step);
  else return __builtin_shufflevector(x, x, 0 ^ step, 1 ^ step, 2 ^ step, 3 ^ step);
}
/// The even lanes of a, then those of b.
template <class Raw>
ONNXC_INLINE Raw even_lanes(Raw a, Raw b) {
  if constexpr (sizeof(Raw) == 64) return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  else if constexpr (sizeof(Raw) == 32) return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14);
  else return __builtin_shufflevector(a, b, 0, 2, 4, 6);
}
/// The odd lanes of a, then those of b.
template <class Raw>
ONNXC_INLINE Raw odd_lanes(Raw a, Raw b) {
  if constexpr (sizeof(Raw) == 64) return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  else if constexpr (sizeof(Raw) == 32) return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
  else return __builtin_shufflevector(a, b, 1, 3, 5, 7);
}
/// The first half of a's lanes, each followed by the same lane of b.
template <class Raw>
ONNXC_INLINE Raw interleave_low(Raw a, Raw b) {
  if constexpr (sizeof(Raw) == 64) return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  else if constexpr (sizeof(Raw) == 32) return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
  else return __builtin_shufflevector(a, b, 0, 4, 1, 5);
}
/// op over all lanes, as a tree.
template <class Op>
ONNXC_INLINE float across(Vec x, Op op) {
  if constexpr (Vec::width > 8) x = op(x, Vec::from_raw(swap_lanes<8>(x.raw())));
  if constexpr (Vec::width > 4) x = op(x, Vec::from_raw(swap_lanes<4>(x.raw())));
  x = op(x, Vec::from_raw(swap_lanes<2>(x.raw())));
  x = op(x, Vec::from_raw(swap_lanes<1>(x.raw())));
  return x.raw()[0];
}
}  // namespace detail

/// a[0], a[2], ..., b[0], b[2], ...
ONNXC_INLINE Vec evens(Vec a, Vec b) { return Vec::from_raw(detail::even_lanes(a.raw(), b.raw())); }
/// a[1], a[3], ..., b[1], b[3], ...
ONNXC_INLINE Vec odds(Vec a, Vec b) { return Vec::from_raw(detail::odd_lanes(a.raw(), b.raw())); }

ONNXC_INLINE Vec pairs(const float* p) {
  typedef int64_t Longs __attribute__((vector_size(4 * Vec::width)));
  int64_t both;
  __builtin_memcpy(&both, p, sizeof both);
  return Vec::from_raw((Vec::Raw)(both + Longs{}));
}
ONNXC_INLINE Vec sum_pairs(Vec x) { return evens(x, x) + odds(x, x); }
ONNXC_INLINE Vec twice(Vec x) { return Vec::from_raw(detail::interleave_low(x.raw(), x.raw())); }
ONNXC_INLINE Vec spread(Vec x) { return Vec::from_raw(detail::interleave_low(x.raw(), Vec::all(0.0f).raw())); }

}  // namespace onnxc::inline ONNXC_ISA
