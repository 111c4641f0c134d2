// Columns and taps of cores with vectors of 128 bits, of integers (Helium: Cortex-M55, M85): what conv_columns.hpp and
// depthwise_columns.hpp ask for.
//
// A column is bytes. VMLADAVA multiplies 16 signed bytes by 16 and adds all products to a general register. x is made signed by its top
// bit: x ^ 0x80 is x - 128, and `start` holds 128 times the sum of an output's weights. Panels are [ceil(k / 16)][4][16]. The last vector
// of a column is read as far as there are bytes (tail predication): the others count as zero.
//
// Weights of eight channels of a depthwise convolution are [tap][8]; both they and x are widened by their loads.
#pragma once
#include <cstring>

#include "conv_columns.hpp"
#include "depthwise_columns.hpp"

namespace onnxc::inline ONNXC_ISA {

struct HeliumColumns {
  static constexpr contract::ColumnForm kForm = contract::kHeliumColumns;
  static constexpr bool kInPlace = true;
  using Tap = int8_t;

  static uint8_t* column(uint8_t* scratch, int32_t, int32_t) { return scratch; }

  static void put(uint8_t* column, int32_t at, const uint8_t* from, int32_t n, bool moves) {
    if (moves) std::memcpy(column + at, from, static_cast<std::size_t>(n));
    else std::memset(column + at, from[0], static_cast<std::size_t>(n));
  }

  static ONNXC_INLINE void multiply(const uint8_t* const (&columns)[1], const int8_t* w, int32_t k, const int32_t* start,
                                    int32_t (&sums)[1][4]) {
    const uint8_t* x = columns[0];
#if defined(__ARM_FEATURE_MVE)
    int32_t s0 = start[0], s1 = start[1], s2 = start[2], s3 = start[3];
    asm("vmov.i8 q2, #0x80\n\t"
        "dlstp.8 lr, %[k]\n"
        "1:\n\t"
        "vldrb.8 q0, [%[x]], #16\n\t"
        "veor q0, q0, q2\n\t"
        "vldrb.8 q1, [%[w]], #16\n\t"
        "vmladava.s8 %[s0], q0, q1\n\t"
        "vldrb.8 q1, [%[w]], #16\n\t"
        "vmladava.s8 %[s1], q0, q1\n\t"
        "vldrb.8 q1, [%[w]], #16\n\t"
        "vmladava.s8 %[s2], q0, q1\n\t"
        "vldrb.8 q1, [%[w]], #16\n\t"
        "vmladava.s8 %[s3], q0, q1\n\t"
        "letp lr, 1b"
        : [x] "+r"(x), [w] "+r"(w), [s0] "+Te"(s0), [s1] "+Te"(s1), [s2] "+Te"(s2), [s3] "+Te"(s3)
        : [k] "r"(k)
        : "lr", "q0", "q1", "q2", "memory");
    sums[0][0] = s0, sums[0][1] = s1, sums[0][2] = s2, sums[0][3] = s3;
#else
    for (int32_t r = 0; r < 4; ++r) {
      sums[0][r] = start[r];
      for (int32_t i = 0; i < k; ++i) sums[0][r] += (x[i] - 128) * w[i / 16 * 64 + 16 * r + i % 16];
    }
#endif
  }

  /// sums[c] = start[c] + tap by tap what lies at x + offset[tap] + c times weights, c in [0, channels).
  __attribute__((noinline)) static void taps(const uint8_t* x, const std::ptrdiff_t* offset, int32_t count, const int8_t* w,
                                             const int32_t* start, int32_t channels, int32_t* sums) {
#if defined(__ARM_FEATURE_MVE) && defined(__OPTIMIZE__)  // or the frame takes one of the registers
    // g++ 12 keeps pairs of vectors in memory, so the loops are written out. Sums of even channels and of odd ones have vectors of their
    // own.
#define ONNXC_TAPS_OF_EIGHT(at, w, even, odd)               \
  "vldrb.u16 q4, [%[from], #" at "]\n\tvldrb.s16 q5, [%[" w \
  "]], #8\n\t"                                              \
  "vmullb.s16 q6, q4, q5\n\tvadd.i32 " even ", " even       \
  ", q6\n\t"                                                \
  "vmullt.s16 q6, q4, q5\n\tvadd.i32 " odd ", " odd ", q6\n\t"
    const uint8_t* from;
    for (; channels >= 16; channels -= 16, x += 16) {
      const std::ptrdiff_t* tap = offset;
      const int8_t* next = w + 8 * count;
      asm("vld20.32 {q0, q1}, [%[start]]\n\tvld21.32 {q0, q1}, [%[start]]!\n\t"
          "vld20.32 {q2, q3}, [%[start]]\n\tvld21.32 {q2, q3}, [%[start]]!\n\t"
          "dls lr, %[count]\n"
          "1:\n\t"
          "ldr %[from], [%[tap]], #4\n\tadd %[from], %[x]\n\t"
          ONNXC_TAPS_OF_EIGHT("0", "w", "q0", "q1") ONNXC_TAPS_OF_EIGHT("8", "next", "q2", "q3")
          "le lr, 1b\n\t"
          "vst20.32 {q0, q1}, [%[sums]]\n\tvst21.32 {q0, q1}, [%[sums]]!\n\t"
          "vst20.32 {q2, q3}, [%[sums]]\n\tvst21.32 {q2, q3}, [%[sums]]!"
          : [tap] "+r"(tap), [w] "+l"(w), [next] "+l"(next), [start] "+r"(start), [sums] "+r"(sums), [from] "=&l"(from)
          : [x] "r"(x), [count] "r"(count)
          : "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "memory");
      w = next;
    }
    if (channels >= 8) {
      const std::ptrdiff_t* tap = offset;
      asm("vld20.32 {q0, q1}, [%[start]]\n\tvld21.32 {q0, q1}, [%[start]]!\n\t"
          "dls lr, %[count]\n"
          "1:\n\t"
          "ldr %[from], [%[tap]], #4\n\tadd %[from], %[x]\n\t"
          ONNXC_TAPS_OF_EIGHT("0", "w", "q0", "q1")
          "le lr, 1b\n\t"
          "vst20.32 {q0, q1}, [%[sums]]\n\tvst21.32 {q0, q1}, [%[sums]]!"
          : [tap] "+r"(tap), [w] "+l"(w), [start] "+r"(start), [sums] "+r"(sums), [from] "=&l"(from)
          : [x] "r"(x), [count] "r"(count)
          : "lr", "q0", "q1", "q4", "q5", "q6", "memory");
      channels -= 8, x += 8;
    }
#undef ONNXC_TAPS_OF_EIGHT
#endif
    for (int32_t c = 0; c < channels; ++c) {
      int32_t sum = start[c];
      for (int32_t tap = 0; tap < count; ++tap) sum += x[offset[tap] + c] * w[c / 8 * 8 * count + 8 * tap + c % 8];
      sums[c] = sum;
    }
  }
};

}  // namespace onnxc::inline ONNXC_ISA
