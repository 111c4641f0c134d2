// What products are made of: element types of both sides, and how a tensor core computes them.
//
//   ThreeTf32     f32 by three products of tf32, of the upper 11 bits of each operand and of the next 11: as accurate as a
//                 chain of f32 multiply-adds, since sums of a stage are rounded into those before, where tensor cores would
//                 cut them
//   OnceTf32      f32 by one product of tf32: operands are rounded to 11 bits, each by at most 2^-11 of it
//   F16, Bf16     products are exact, sums are f32
//   S8, U8, U8S8, S8U8      sums are i32, modulo 2^32
#pragma once
#include <bit>

#include "../types.hpp"
#include "device.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {

struct ThreeTf32 : Tf32 {};
struct OnceTf32 : Tf32 {};

namespace detail {

/// Element types of both sides, and what `mma` is called with.
template <class Kind>
struct KindOf;
template <>
struct KindOf<ThreeTf32> {
  using Left = float;
  using Right = float;
  using Unit = Tf32;
};
template <>
struct KindOf<OnceTf32> : KindOf<ThreeTf32> {};
template <>
struct KindOf<F16> {
  using Left = float16;
  using Right = float16;
  using Unit = F16;
};
template <>
struct KindOf<Bf16> {
  using Left = bfloat16;
  using Right = bfloat16;
  using Unit = Bf16;
};
template <bool kLeft, bool kRight>
struct KindOf<Bytes<kLeft, kRight>> {
  using Left = std::conditional_t<kLeft, int8_t, uint8_t>;
  using Right = std::conditional_t<kRight, int8_t, uint8_t>;
  using Unit = Bytes<kLeft, kRight>;
};

template <class Kind>
inline constexpr bool kIsFloat32 = std::is_base_of_v<Tf32, Kind>;

ONNXC_DEVICE uint32_t as_word(float x) { return std::bit_cast<uint32_t>(x); }
ONNXC_DEVICE float as_float(uint32_t word) { return std::bit_cast<float>(word); }

/// x = its upper 11 bits; low = the next ones.
template <int A, int B>
ONNXC_DEVICE void split_words(uint32_t (&x)[A][B], uint32_t (&low)[A][B]) {
  ONNXC_UNROLL_DEVICE
  for (int i = 0; i < A; ++i) {
    ONNXC_UNROLL_DEVICE
    for (int r = 0; r < B; ++r) {
      const float whole = as_float(x[i][r]), upper = round_tf32(whole);
      x[i][r] = as_word(upper);
      low[i][r] = as_word(round_tf32(whole - upper));
    }
  }
}

/// c += a b in f32. a and b are left as their upper parts.
template <int M, int N>
ONNXC_DEVICE void multiply_three(float (&c)[M][N][4], uint32_t (&a)[M][4], uint32_t (&b)[N][2]) {
  uint32_t a_low[M][4], b_low[N][2];
  split_words(a, a_low);
  split_words(b, b_low);
  mma<Tf32>(c, a_low, b);
  mma<Tf32>(c, a, b_low);
  mma<Tf32>(c, a, b);
}

template <int A, int B>
ONNXC_DEVICE void round_words(uint32_t (&x)[A][B]) {
  ONNXC_UNROLL_DEVICE
  for (int i = 0; i < A; ++i) {
    ONNXC_UNROLL_DEVICE
    for (int r = 0; r < B; ++r) x[i][r] = as_word(round_tf32(as_float(x[i][r])));
  }
}

/// c += a b over 8 words of k. a and b may be changed.
template <class Kind, int M, int N>
ONNXC_DEVICE void multiply(typename Kind::Sum (&c)[M][N][4], uint32_t (&a)[M][4], uint32_t (&b)[N][2]) {
  if constexpr (std::is_same_v<Kind, ThreeTf32>) {
    multiply_three(c, a, b);
  } else {
    if constexpr (std::is_same_v<Kind, OnceTf32>) {
      round_words(a);
      round_words(b);
    }
    mma<typename KindOf<Kind>::Unit>(c, a, b);
  }
}

/// c += part, rounded.
template <class Sum, int M, int N>
ONNXC_DEVICE void add_to(Sum (&c)[M][N][4], const Sum (&part)[M][N][4]) {
  ONNXC_UNROLL_DEVICE
  for (int i = 0; i < M; ++i) {
    ONNXC_UNROLL_DEVICE
    for (int j = 0; j < N; ++j) {
      ONNXC_UNROLL_DEVICE
      for (int r = 0; r < 4; ++r) c[i][j][r] += part[i][j][r];
    }
  }
}

}  // namespace detail
}  // namespace onnxc::gpu
