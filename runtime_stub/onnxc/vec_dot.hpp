// Inner products of four bytes in each lane, added to sums of 32 bits: exact, as long as the sums fit.
//
//   dot(sums, u, s)    lane i: sums[i] + u[4i] s[4i] + ... + u[4i + 3] s[4i + 3], of unsigned bytes u and signed bytes s
//
// One instruction where the machine has it (VNNI). Elsewhere bytes are widened to 16 bits first: the instruction of AVX2 for bytes saturates.
#pragma once

#include "vec.hpp"

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
/// In assembler, which keeps the sums of a loop in registers; a compiler may move those of intrinsics to the stack.
ONNXC_INLINE IntVec dot(IntVec sums, IntVec u, IntVec s) {
#if defined(__AVX512F__)
  asm("vpdpbusd %2, %1, %0" : "+v"(sums.raw) : "v"(u.raw), "vm"(s.raw));
#else
  asm("{vex} vpdpbusd %2, %1, %0" : "+x"(sums.raw) : "x"(u.raw), "xm"(s.raw));
#endif
  return sums;
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

}  // namespace onnxc::inline ONNXC_ISA
