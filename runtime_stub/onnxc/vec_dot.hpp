// Inner products of four bytes in each lane, added to sums of 32 bits: exact, as long as the sums fit.
//
//   dot(sums, u, s)    lane i: sums[i] + u[4i] s[4i] + ... + u[4i + 3] s[4i + 3], of unsigned bytes u and signed bytes s
//
// One instruction where the machine has it (VNNI; AArch64's i8mm). With AArch64's dotprod alone, whose bytes are both signed, it is u - 128 that is multiplied, and
// 128 s added again: what many sums share, so products with the same s are better written as
//
//   DotOffsets<n> offsets;                 of n vectors s in the same turn; nothing where there is one instruction
//   offsets.add(i, s)                      once for each s
//   dot_offset(sums, offset(u), s)         with each u
//   offsets.without(i, sums)               at the end: the sums of the products of u and s
//
// Elsewhere bytes are widened to 16 bits first: the instruction of AVX2 for bytes saturates.
//
// The same with numbers of 16 bits in the place of s, within [-kMostLong, kMostLong]:
//
//   store_longs(x, p)           Vec::width numbers, in the form that dot_longs reads: 8 bytes for each four of them
//   LongSums sums;              zeros
//   dot_longs(sums, u, repeat_longs(p))
//   total(sums)                 as floats, rounded once
//
// With VNNI a number is two digits, 256 high + low, and each digit has a sum of its own; elsewhere numbers lie in pairs of 16 bits.
#pragma once

#include "vec_integers.hpp"

namespace onnxc::inline ONNXC_ISA {

/// Four bytes, at any address.
struct Quad {
  uint8_t bytes[4];
};
static_assert(sizeof(Quad) == 4 && alignof(Quad) == 1);

ONNXC_INLINE IntVec repeat(const Quad* p) {
  int32_t word;
  __builtin_memcpy(&word, p, sizeof word);
  return IntVec::all(word);
}
/// The first n bytes, and zeros.
ONNXC_INLINE IntVec repeat(const Quad* p, int64_t n) {
  uint8_t bytes[4] = {};
  for (int64_t i = 0; i < n; ++i) bytes[i] = p->bytes[i];
  int32_t word;
  __builtin_memcpy(&word, bytes, sizeof word);
  return IntVec::all(word);
}

#if !defined(ONNXC_NO_INTRINSICS) && ((defined(__AVX512F__) && defined(__AVX512VNNI__)) || (defined(__AVX2__) && defined(__AVXVNNI__)))
#define ONNXC_DOT_BYTES 1
/// In assembler, which keeps the sums of a loop in registers; a compiler may move those of intrinsics to the stack.
ONNXC_INLINE IntVec dot(IntVec sums, IntVec u, IntVec s) {
#if defined(__AVX512F__)
  asm("vpdpbusd %2, %1, %0" : "+v"(sums.raw) : "v"(u.raw), "vm"(s.raw));
#else
  asm("{vex} vpdpbusd %2, %1, %0" : "+x"(sums.raw) : "x"(u.raw), "xm"(s.raw));
#endif
  return sums;
}
#elif !defined(ONNXC_NO_INTRINSICS) && defined(__aarch64__) && defined(__ARM_FEATURE_MATMUL_INT8)
#define ONNXC_DOT_BYTES 1
ONNXC_INLINE IntVec dot(IntVec sums, IntVec u, IntVec s) { return {vusdotq_s32(sums.raw, (uint8x16_t)u.raw, (int8x16_t)s.raw)}; }
#elif !defined(ONNXC_NO_INTRINSICS) && defined(__aarch64__) && defined(__ARM_FEATURE_DOTPROD)
#define ONNXC_DOT_BYTES     1
#define ONNXC_DOT_OF_SIGNED 1
ONNXC_INLINE IntVec dot_offset(IntVec sums, IntVec u, IntVec s) { return {vdotq_s32(sums.raw, (int8x16_t)u.raw, (int8x16_t)s.raw)}; }
ONNXC_INLINE IntVec offset(IntVec u) { return u ^ IntVec::all(static_cast<int32_t>(0x80808080U)); }
ONNXC_INLINE IntVec dot(IntVec sums, IntVec u, IntVec s) {
  const IntVec half = IntVec::all(0x40404040);
  return dot_offset(dot_offset(dot_offset(sums, offset(u), s), half, s), half, s);
}
#elif ONNXC_VECTOR_FLOATS == 1
ONNXC_INLINE IntVec dot(IntVec sums, IntVec u, IntVec s) {
  const auto byte = [](IntVec x, int i) ONNXC_INLINE_LAMBDA { return static_cast<uint8_t>(x.number() >> 8 * i); };
  int32_t sum = sums.raw;
  ONNXC_UNROLL for (int i = 0; i < 4; ++i) sum += byte(u, i) * static_cast<int8_t>(byte(s, i));
  return {sum};
}
#else
namespace detail {
typedef int16_t Pairs __attribute__((vector_size(4 * Vec::width)));
typedef uint16_t UnsignedPairs __attribute__((vector_size(4 * Vec::width)));
/// sums[i] + a[2i] b[2i] + a[2i + 1] b[2i + 1]
ONNXC_INLINE IntVec dot_pairs(IntVec sums, Pairs a, Pairs b) {
#if !defined(ONNXC_NO_INTRINSICS) && \
    (defined(__AVX512BW__) || (defined(__AVX2__) && !defined(__AVX512F__)) || (defined(__SSE4_1__) && !defined(__AVX__)))
  return sums + IntVec{x86::multiply_pairs(a, b)};
#elif !defined(ONNXC_NO_INTRINSICS) && defined(__aarch64__)
  return sums + IntVec{vpaddq_s32(vmull_s16(vget_low_s16(a), vget_low_s16(b)), vmull_high_s16(a, b))};
#else
  const IntVec x = {(IntVec::Raw)a}, y = {(IntVec::Raw)b};
  const IntVec::Raw low = ((x << 16) >> 16).raw * ((y << 16) >> 16).raw, high = (x >> 16).raw * (y >> 16).raw;
  return sums + IntVec{low} + IntVec{high};
#endif
}
}  // namespace detail
ONNXC_INLINE IntVec dot(IntVec sums, IntVec u, IntVec s) {
  using detail::Pairs;
  const auto bytes = (detail::UnsignedPairs)u.raw;
  const Pairs even = (Pairs)(bytes & 255), odd = (Pairs)(bytes >> 8);
  const Pairs factors = (Pairs)s.raw, even_factors = (Pairs)((Pairs)((detail::UnsignedPairs)factors << 8) >> 8), odd_factors = factors >> 8;
  return detail::dot_pairs(detail::dot_pairs(sums, even, even_factors), odd, odd_factors);
}
#endif

#if defined(ONNXC_DOT_OF_SIGNED)
template <int n>
struct DotOffsets {
  static constexpr bool kAny = true;
  IntVec sums[n];
  ONNXC_INLINE DotOffsets() { ONNXC_UNROLL for (IntVec& sum : sums) sum = IntVec::all(0); }
  ONNXC_INLINE void add(int i, IntVec s) { sums[i] = dot_offset(sums[i], IntVec::all(static_cast<int32_t>(0x80808080U)), s); }
  ONNXC_INLINE IntVec without(int i, IntVec sum) const { return sum - sums[i]; }
};
#else
ONNXC_INLINE IntVec dot_offset(IntVec sums, IntVec u, IntVec s) { return dot(sums, u, s); }
ONNXC_INLINE IntVec offset(IntVec u) { return u; }
template <int n>
struct DotOffsets {
  static constexpr bool kAny = false;
  ONNXC_INLINE void add(int, IntVec) {}
  ONNXC_INLINE IntVec without(int, IntVec sum) const { return sum; }
};
#endif
#undef ONNXC_DOT_OF_SIGNED

/// The greatest number of 16 bits whose high digit is one of 8 bits, whatever its low digit is.
inline constexpr int kMostLong = 127 * 256;

/// Numbers are at `p` in groups of four: with VNNI, four high digits and four low ones; else numbers 0, 2, 1 and 3, with one lane
/// in order.
#if ONNXC_VECTOR_FLOATS == 1
ONNXC_INLINE void store_longs(IntVec x, uint8_t* p) {
  const auto number = static_cast<int16_t>(x.raw);
  __builtin_memcpy(p, &number, sizeof number);
}
#else
namespace detail {
/// The elements of x in the order of `map`, for each group of sizeof...(map) of them.
template <class Raw, int... map, std::size_t... i>
ONNXC_INLINE Raw permute_groups(Raw x, std::integer_sequence<int, map...>, std::index_sequence<i...>) {
  constexpr int order[] = {map...}, count = sizeof...(map);
  return shuffle<(static_cast<int>(i) / count * count + order[i % count])...>(x, x);
}
}  // namespace detail

ONNXC_INLINE void store_longs(IntVec x, uint8_t* p) {
  using Halves = detail::Packed<int16_t>;
  const Halves numbers = detail::narrow_packed<int16_t>(x);
#if defined(ONNXC_DOT_BYTES)
  // A low digit, from -128 on, is the number's lower byte. The upper byte of the number and 128 is then the high digit.
  typedef int8_t Parts __attribute__((vector_size(sizeof(Halves))));
  const Halves rounded = numbers + 128, mixed = (rounded & static_cast<int16_t>(0xff00)) | (numbers & 0xff);
  const Parts parts =
      detail::permute_groups((Parts)mixed, std::integer_sequence<int, 1, 3, 5, 7, 0, 2, 4, 6>(), std::make_index_sequence<sizeof(Parts)>());
  detail::store_packed<int16_t>((Halves)parts, reinterpret_cast<int16_t*>(p));
#else
  detail::store_packed<int16_t>(
      detail::permute_groups(numbers, std::integer_sequence<int, 0, 2, 1, 3>(), std::make_index_sequence<sizeof(Halves) / 2>()),
      reinterpret_cast<int16_t*>(p));
#endif
}
#endif

/// A group of four numbers in all lanes: its first and its last four bytes.
struct Longs {
  IntVec first, last;
};
ONNXC_INLINE Longs repeat_longs(const uint8_t* p) {
  return {repeat(reinterpret_cast<const Quad*>(p)), repeat(reinterpret_cast<const Quad*>(p + 4))};
}

#if defined(ONNXC_DOT_BYTES)
struct LongSums {
  IntVec high = IntVec::all(0), low = IntVec::all(0);
};
ONNXC_INLINE void dot_longs(LongSums& sums, IntVec u, Longs s) {
  sums.high = dot(sums.high, u, s.first);
  sums.low = dot(sums.low, u, s.last);
}
ONNXC_INLINE Vec total(LongSums sums) { return to_float((sums.high << 8) + sums.low); }
#elif ONNXC_VECTOR_FLOATS == 1
struct LongSums {
  IntVec all = IntVec::all(0);
};
ONNXC_INLINE void dot_longs(LongSums& sums, IntVec u, Longs s) {
  const auto byte = [&](int i) ONNXC_INLINE_LAMBDA { return IntVec{static_cast<uint8_t>(u.number() >> 8 * i)}; };
  sums.all = sums.all + byte(0) * ((s.first << 16) >> 16) + byte(1) * (s.first >> 16) + byte(2) * ((s.last << 16) >> 16) +
             byte(3) * (s.last >> 16);
}
ONNXC_INLINE Vec total(LongSums sums) { return to_float(sums.all); }
#else
struct LongSums {
  IntVec all = IntVec::all(0);
};
ONNXC_INLINE void dot_longs(LongSums& sums, IntVec u, Longs s) {
  const auto bytes = (detail::UnsignedPairs)u.raw;
  const auto even = (detail::Pairs)(bytes & 255), odd = (detail::Pairs)(bytes >> 8);
  sums.all = detail::dot_pairs(detail::dot_pairs(sums.all, even, (detail::Pairs)s.first.raw), odd, (detail::Pairs)s.last.raw);
}
ONNXC_INLINE Vec total(LongSums sums) { return to_float(sums.all); }
#endif
#undef ONNXC_DOT_BYTES

}  // namespace onnxc::inline ONNXC_ISA
