// Inner loops of register tiles for cores that have registers for single floats, in assembler.
//
// g++ loads one float an instruction. VLDMIA loads consecutive registers, which only assembler can name: for a tile of 4x4, two steps of k
// take 5 loads, 32 multiply-adds and the loop's end, where the compiler's loop takes 16 loads more. Sums are passed in memory, which
// takes two instructions. The order of operations is that of tile.hpp, and so are the bits of the result.
#pragma once
#include "base.hpp"

namespace onnxc::inline ONNXC_ISA::detail {

/// The taps of a pixel of a depthwise convolution: how many, and floats from one to the next in a row, and from the end of a row to the next one.
struct TapStrides {
  int rows, columns;
  int x_tap, x_row, w_tap, w_row;
};

// Without optimisation the compiler has too few registers left for them.
#if ONNXC_VECTOR_FLOATS == 1 && !defined(ONNXC_REPRODUCIBLE) && defined(__ARM_FEATURE_FMA) && defined(__thumb2__) && \
    !defined(__aarch64__) && defined(__OPTIMIZE__)

/// Whether tiles of 4x4 and 1x8 floats have these loops.
constexpr bool kFloatTiles = true;

// What a step of k adds to the sums of a row and of four rows: x times w0 to w3.
#define ONNXC_ROW(x, w0, w1, w2, w3, s0, s1, s2, s3)                                                                                  \
  "vfma.f32 " s0 ", " x ", " w0 "\n\tvfma.f32 " s1 ", " x ", " w1 "\n\tvfma.f32 " s2 ", " x ", " w2 "\n\tvfma.f32 " s3 ", " x ", " w3 \
  "\n"                                                                                                                                \
  "\t"
#define ONNXC_ROWS(x0, x1, x2, x3, w0, w1, w2, w3)          \
  ONNXC_ROW(x0, w0, w1, w2, w3, "s16", "s17", "s18", "s19") \
  ONNXC_ROW(x1, w0, w1, w2, w3, "s20", "s21", "s22", "s23") \
  ONNXC_ROW(x2, w0, w1, w2, w3, "s24", "s25", "s26", "s27") \
  ONNXC_ROW(x3, w0, w1, w2, w3, "s28", "s29", "s30", "s31")
#define ONNXC_FLOAT_REGISTERS                                                                                                              \
  "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s20", \
      "s21", "s22", "s23", "s24", "s25", "s26", "s27", "s28", "s29", "s30", "s31"

/// sums[i][j] = from[i * step + j] + the sum of rows[i][s] * b[s][j] over s in [0, k), k > 0. `from` may be the sums.
__attribute__((noinline)) inline void multiply_4x4(float (*sums)[4], const float* from, int step, const float* const* rows, const float* b,
                                                   int k) {
  asm volatile(
      "vldmia %[from], {s16-s19}\n\t"
      "add %[from], %[from], %[step], lsl #2\n\t"
      "vldmia %[from], {s20-s23}\n\t"
      "add %[from], %[from], %[step], lsl #2\n\t"
      "vldmia %[from], {s24-s27}\n\t"
      "add %[from], %[from], %[step], lsl #2\n\t"
      "vldmia %[from], {s28-s31}\n\t"
      "ldm %[rows], {r3, r4, r5, r6}\n\t"
      "subs %[k], #2\n\t"
      "blt 2f\n"
      "1:\n\t"
      "vldmia %[b]!, {s8-s15}\n\t"
      "vldmia r3!, {s0-s1}\n\t"
      "vldmia r4!, {s2-s3}\n\t"
      "vldmia r5!, {s4-s5}\n\t"
      "vldmia r6!, {s6-s7}\n\t"  //
      ONNXC_ROWS("s0", "s2", "s4", "s6", "s8", "s9", "s10", "s11") ONNXC_ROWS("s1", "s3", "s5", "s7", "s12", "s13", "s14", "s15")
      "subs %[k], #2\n\t"
      "bge 1b\n"
      "2:\n\t"
      "adds %[k], #1\n\t"
      "bmi 3f\n\t"
      "vldmia %[b]!, {s8-s11}\n\t"
      "vldr s0, [r3]\n\t"
      "vldr s2, [r4]\n\t"
      "vldr s4, [r5]\n\t"
      "vldr s6, [r6]\n\t"  //
      ONNXC_ROWS("s0", "s2", "s4", "s6", "s8", "s9", "s10", "s11")
      "3:\n\t"
      "vstmia %[sums], {s16-s31}"
      : [from] "+&r"(from), [b] "+&r"(b), [k] "+&r"(k)
      : [sums] "r"(sums), [step] "r"(step), [rows] "r"(rows)
      : "r3", "r4", "r5", "r6", "cc", "memory", ONNXC_FLOAT_REGISTERS);
}

#define ONNXC_EIGHT(x, w0, w1, w2, w3, w4, w5, w6, w7)     \
  ONNXC_ROW(x, w0, w1, w2, w3, "s16", "s17", "s18", "s19") \
  ONNXC_ROW(x, w4, w5, w6, w7, "s20", "s21", "s22", "s23")

/// sums[j] += x[s] * b[s][j] for s in [0, k), k > 0.
__attribute__((noinline)) inline void multiply_1x8(float (&sums)[8], const float* x, const float* b, int k) {
  asm volatile(
      "vldmia %[sums], {s16-s23}\n\t"
      "subs %[k], #4\n\t"
      "blt 2f\n"
      "1:\n\t"
      "vldmia %[x]!, {s24-s27}\n\t"
      "vldmia %[b]!, {s0-s15}\n\t"  //
      ONNXC_EIGHT("s24", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7") ONNXC_EIGHT("s25", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15")
      "vldmia %[b]!, {s0-s15}\n\t"  //
      ONNXC_EIGHT("s26", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7") ONNXC_EIGHT("s27", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15")
      "subs %[k], #4\n\t"
      "bge 1b\n"
      "2:\n\t"
      "adds %[k], #3\n\t"
      "bmi 4f\n"
      "3:\n\t"
      "vldmia %[x]!, {s24}\n\t"
      "vldmia %[b]!, {s0-s7}\n\t"  //
      ONNXC_EIGHT("s24", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7")
      "subs %[k], #1\n\t"
      "bge 3b\n"
      "4:\n\t"
      "vstmia %[sums], {s16-s23}"
      : [x] "+&r"(x), [b] "+&r"(b), [k] "+&r"(k)
      : [sums] "r"(&sums)
      : "cc", "memory", ONNXC_FLOAT_REGISTERS);
}

/// sums[j] = from[j] + the sum of x[j] * w[j] over all taps, rows > 0 and columns > 0, of eight channels j.
__attribute__((noinline)) inline void multiply_taps(float (&sums)[8], const float* from, const float* x, const float* w,
                                                    const TapStrides& taps) {
  int rows = taps.rows, columns;
  const int x_tap = taps.x_tap * 4, w_tap = taps.w_tap * 4;
  asm volatile(
      "vldmia %[from], {s16-s23}\n"
      "1:\n\t"
      "ldr %[columns], [%[taps], #4]\n"
      "2:\n\t"
      "vldmia %[x], {s0-s7}\n\t"
      "vldmia %[w], {s8-s15}\n\t"
      "add %[x], %[x], %[x_tap]\n\t"
      "add %[w], %[w], %[w_tap]\n\t"
      "subs %[columns], #1\n\t"
      "vfma.f32 s16, s0, s8\n\tvfma.f32 s17, s1, s9\n\tvfma.f32 s18, s2, s10\n\tvfma.f32 s19, s3, s11\n\t"
      "vfma.f32 s20, s4, s12\n\tvfma.f32 s21, s5, s13\n\tvfma.f32 s22, s6, s14\n\tvfma.f32 s23, s7, s15\n\t"
      "bne 2b\n\t"
      "ldr %[columns], [%[taps], #12]\n\t"
      "add %[x], %[x], %[columns], lsl #2\n\t"
      "ldr %[columns], [%[taps], #20]\n\t"
      "add %[w], %[w], %[columns], lsl #2\n\t"
      "subs %[rows], #1\n\t"
      "bne 1b\n\t"
      "vstmia %[sums], {s16-s23}"
      : [x] "+&r"(x), [w] "+&r"(w), [rows] "+&r"(rows), [columns] "=&r"(columns)
      : [sums] "r"(&sums), [from] "r"(from), [taps] "r"(&taps), [x_tap] "r"(x_tap), [w_tap] "r"(w_tap)
      : "cc", "memory", ONNXC_FLOAT_REGISTERS);
}
/// Copies n floats. Returns the end.
ONNXC_INLINE float* copy_floats(float* to, const float* from, int n) {
  uint32_t word;
  asm volatile(
      "subs %[n], #8\n\t"
      "blt 2f\n"
      "1:\n\t"
      "vldmia %[from]!, {s0-s7}\n\t"
      "subs %[n], #8\n\t"
      "vstmia %[to]!, {s0-s7}\n\t"
      "bge 1b\n"
      "2:\n\t"
      "adds %[n], #7\n\t"
      "bmi 4f\n"
      "3:\n\t"
      "ldr %[word], [%[from]], #4\n\t"
      "subs %[n], #1\n\t"
      "str %[word], [%[to]], #4\n\t"
      "bge 3b\n"
      "4:"
      : [to] "+&r"(to), [from] "+&r"(from), [n] "+&r"(n), [word] "=&r"(word)
      :
      : "cc", "memory", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7");
  return to;
}
static_assert(offsetof(TapStrides, columns) == 4 && offsetof(TapStrides, x_row) == 12 && offsetof(TapStrides, w_row) == 20);

#undef ONNXC_EIGHT
#undef ONNXC_ROW
#undef ONNXC_ROWS
#undef ONNXC_FLOAT_REGISTERS

#else

constexpr bool kFloatTiles = false;
void multiply_4x4(float (*sums)[4], const float* from, int step, const float* const* rows, const float* b, int k);
void multiply_1x8(float (&sums)[8], const float* x, const float* b, int k);
void multiply_taps(float (&sums)[8], const float* from, const float* x, const float* w, const TapStrides& taps);
ONNXC_INLINE float* copy_floats(float* to, const float* from, int n) {
  for (; n > 0; --n) *to++ = *from++;
  return to;
}

#endif

}  // namespace onnxc::inline ONNXC_ISA::detail
