// Columns and taps of cores that multiply bytes one by one: what conv_columns.hpp and depthwise_columns.hpp ask for.
//
// A column is bytes. Panels are [k][4]; those of four channels of a depthwise convolution [tap][4].
#pragma once
#include <cstring>

#include "conv_columns.hpp"
#include "depthwise_columns.hpp"

namespace onnxc::inline ONNXC_ISA {

struct PlainColumns {
  static constexpr contract::ColumnForm kForm = contract::kPlainColumns;
  static constexpr bool kInPlace = true;
  using Tap = int8_t;

  static uint8_t* column(uint8_t* scratch, int32_t j, int32_t k) { return scratch + j * k; }

  static void put(uint8_t* column, int32_t at, const uint8_t* from, int32_t n, bool moves) {
    if (moves) std::memcpy(column + at, from, static_cast<std::size_t>(n));
    else std::memset(column + at, from[0], static_cast<std::size_t>(n));
  }

  __attribute__((noinline)) static void multiply(const uint8_t* const (&x)[2], const int8_t* w, int32_t k, const int32_t* start,
                                                 int32_t (&sums)[2][4]) {
#if __ARM_ARCH_ISA_THUMB == 1
    for (int j = 0; j < 2; ++j) multiply_row(x[j], w, k, start, sums[j]);  // eight registers hold four sums
#else
    int32_t s[2][4];  // thirteen registers hold eight sums
    ONNXC_UNROLL for (int r = 0; r < 4; ++r) s[0][r] = s[1][r] = start[r];
    const uint8_t *first = x[0], *second = x[1];
    for (const uint8_t* const end = first + k; first != end; ++first, ++second, w += 4) {
      const int32_t a = *first, b = *second;
      ONNXC_UNROLL for (int r = 0; r < 4; ++r) {
        const int32_t weight = w[r];
        s[0][r] += a * weight;
        s[1][r] += b * weight;
      }
    }
    ONNXC_UNROLL for (int r = 0; r < 4; ++r) sums[0][r] = s[0][r], sums[1][r] = s[1][r];
#endif
  }
  __attribute__((noinline)) static void multiply_row(const uint8_t* x, const int8_t* w, int32_t n, const int32_t* start,
                                                     int32_t (&sums)[4]) {
    int32_t s[4];
    ONNXC_UNROLL for (int r = 0; r < 4; ++r) s[r] = start[r];
    _Pragma("GCC unroll 4") for (const uint8_t* const end = x + n; x != end; ++x, w += 4) {
      ONNXC_UNROLL for (int r = 0; r < 4; ++r) s[r] += *x * w[r];
    }
    ONNXC_UNROLL for (int r = 0; r < 4; ++r) sums[r] = s[r];
  }

  /// sums[c] = start[c] + tap by tap what lies at x + offset[tap] + c times weights, c in [0, channels).
  __attribute__((noinline)) static void taps(const uint8_t* x, const std::ptrdiff_t* offset, int32_t count, const int8_t* w,
                                             const int32_t* start, int32_t channels, int32_t* sums) {
    for (; channels >= 4; channels -= 4, x += 4, start += 4, sums += 4) {
      int32_t s[4];
      ONNXC_UNROLL for (int r = 0; r < 4; ++r) s[r] = start[r];
      for (const std::ptrdiff_t *tap = offset, *const end = offset + count; tap != end; ++tap, w += 4) {
        const uint8_t* const from = x + *tap;
        ONNXC_UNROLL for (int r = 0; r < 4; ++r) s[r] += from[r] * w[r];
      }
      ONNXC_UNROLL for (int r = 0; r < 4; ++r) sums[r] = s[r];
    }
    for (int32_t c = 0; c < channels; ++c) {
      int32_t sum = start[c];
      for (int32_t tap = 0; tap < count; ++tap) sum += x[offset[tap] + c] * w[4 * tap + c];
      sums[c] = sum;
    }
  }
};

}  // namespace onnxc::inline ONNXC_ISA
