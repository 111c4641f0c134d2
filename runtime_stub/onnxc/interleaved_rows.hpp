// Bytes of four rows, interleaved to quads: lane i of a vector gets byte i of each row, so that `dot` (vec_dot.hpp) adds up rows.
//
//   row 0   a0 b0 c0 d0 ...
//   row 1   a1 b1 c1 d1 ...         a0 a1 a2 a3   b0 b1 b2 b3   c0 c1 c2 c3   d0 d1 d2 d3   ...
//   row 2   a2 b2 c2 d2 ...
//   row 3   a3 b3 c3 d3 ...
#pragma once
#include "vec_integers.hpp"

namespace onnxc::inline ONNXC_ISA::detail {

#if ONNXC_VECTOR_FLOATS > 1
typedef uint8_t WideBytes __attribute__((vector_size(4 * Vec::width)));
typedef uint16_t WideHalves __attribute__((vector_size(4 * Vec::width)));

/// Half of the elements of a and b, alternating, within each 16 bytes: elements `from` to from + 7 of bytes, from + 3 of halves.
template <class V, int from, std::size_t... i>
ONNXC_INLINE V unpack(V a, V b, std::index_sequence<i...>) {
  constexpr int count = sizeof...(i), unit = 16 / (sizeof(V) / count);
  return shuffle<static_cast<int>(i / unit * unit + from + i % unit / 2 + i % 2 * count)...>(a, b);
}
template <class V>
ONNXC_INLINE V unpack_low(V a, V b) {
  return unpack<V, 0>(a, b, std::make_index_sequence<sizeof(V) / sizeof(a[0])>{});
}
template <class V>
ONNXC_INLINE V unpack_high(V a, V b) {
  return unpack<V, 8 / sizeof(a[0])>(a, b, std::make_index_sequence<sizeof(V) / sizeof(a[0])>{});
}
/// Words 0, n, 2n, 3n, 1, n + 1, ... of n times 16 bytes: unpacking, which stays within 16 bytes, then leaves all channels in order.
template <std::size_t... i>
ONNXC_INLINE IntVec spread_words(IntVec x, std::index_sequence<i...>) {
  if constexpr (Vec::width <= 4) return x;
  else
    return IntVec{shuffle<static_cast<int>(i % 4 * (Vec::width / 4) + i / 4)...>(x.raw, x.raw)};  // nvcc (13.0) would drop the braces alone
}

#endif

/// put(g, quads) for g in [0, 4), or for the first two if `few`: quad i has byte g * Vec::width + i of all rows.
template <class Put>
ONNXC_INLINE void interleave_rows(const IntVec (&rows)[4], bool few, Put put) {
#if ONNXC_VECTOR_FLOATS == 1
  uint8_t bytes[4][4], quad[4];
  ONNXC_UNROLL for (int i = 0; i < 4; ++i) __builtin_memcpy(bytes[i], &rows[i].raw, 4);
  ONNXC_UNROLL for (int g = 0; g < 4; ++g) {
    if (few && g == 2) return;
    ONNXC_UNROLL for (int i = 0; i < 4; ++i) quad[i] = bytes[i][g];
    IntVec quads;
    __builtin_memcpy(&quads.raw, quad, 4);
    put(g, quads);
  }
#else
  WideBytes r[4];
  ONNXC_UNROLL for (int i = 0; i < 4; ++i) r[i] = (WideBytes)spread_words(rows[i], std::make_index_sequence<Vec::width>{}).raw;
  const auto low = (WideHalves)unpack_low(r[0], r[1]), low_below = (WideHalves)unpack_low(r[2], r[3]);
  put(0, IntVec{(IntVec::Raw)unpack_low(low, low_below)});
  put(1, IntVec{(IntVec::Raw)unpack_high(low, low_below)});
  if (few) return;
  const auto high = (WideHalves)unpack_high(r[0], r[1]), high_below = (WideHalves)unpack_high(r[2], r[3]);
  put(2, IntVec{(IntVec::Raw)unpack_low(high, high_below)});
  put(3, IntVec{(IntVec::Raw)unpack_high(high, high_below)});
#endif
}

ONNXC_INLINE IntVec load_bytes(const uint8_t* p) { return load_whole(reinterpret_cast<const int32_t*>(p)).lanes; }

}  // namespace onnxc::inline ONNXC_ISA::detail
