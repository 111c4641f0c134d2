// Columns and taps of cores that multiply pairs of numbers of 16 bits in general registers (Cortex-M4, M7, M33): what conv_columns.hpp and
// depthwise_columns.hpp ask for.
//
// Two columns lie in scratch as pairs of 16 bits, of each four steps first the even ones and then the odd ones, as UXTB16 takes them from
// four bytes:
//
//   x0 x2 of column 0   x0 x2 of column 1   x1 x3 of column 0   x1 x3 of column 1
//
// Weights stay bytes in memory. Those of two outputs, a and b, meet in one number of 16 bits, v = 256 b + a, whose lower byte is a, and two
// steps of it in a word. SMLAD multiplies a word by a pair of x, and SXTB16 makes the word of a alone:
//
//   d += x0 a0 + x2 a2                               the sum of the first output
//   m += 256 (x0 b0 + x2 b2) + x0 a0 + x2 a2         m - d is 256 times the sum of the second
//
// So four multiply-adds take three instructions and half of a load. m - d is right modulo 2^32 as long as the second sum has 24 bits, which
// 256 steps of k do not exceed: it is taken out then. v overflows 16 bits if b is -128 and a negative; such weights are no operands of this
// kernel.
//
// Panels are [k / 2][2] words, the outputs 0 and 1, then 2 and 3; k is a multiple of 8.
//
// A depthwise convolution takes two taps of four channels from two words, a and b. PKHBT and PKHTB join their lower and their upper halves,
// UXTB16 makes pairs of one channel, and SMLAD multiplies them:
//
//   a0 a1 a2 a3   b0 b1 b2 b3      a0 a1 b0 b1   a2 a3 b2 b3      a0 b0   a1 b1   a2 b2   a3 b3
//
// Its weights are numbers of 16 bits, [pair of taps][channel][tap], and the last of an odd number of taps the channels 0, 2, 1 and 3.
#pragma once
#include <cstring>

#include "conv_columns.hpp"
#include "depthwise_columns.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace dsp {
#if defined(__ARM_FEATURE_DSP)
/// Two products of 16 bits, and the sum.
ONNXC_INLINE int32_t smlad(uint32_t x, uint32_t y, int32_t sum) {
  asm("smlad %0, %1, %2, %0" : "+r"(sum) : "r"(x), "r"(y));
  return sum;
}
ONNXC_INLINE int32_t smlabb(uint32_t x, uint32_t y, int32_t sum) {
  asm("smlabb %0, %1, %2, %0" : "+r"(sum) : "r"(x), "r"(y));
  return sum;
}
ONNXC_INLINE int32_t smlatt(uint32_t x, uint32_t y, int32_t sum) {
  asm("smlatt %0, %1, %2, %0" : "+r"(sum) : "r"(x), "r"(y));
  return sum;
}
/// Bytes 0 and 2 of x.
ONNXC_INLINE uint32_t sxtb16(uint32_t x) {
  asm("sxtb16 %0, %1" : "=r"(x) : "r"(x));
  return x;
}
ONNXC_INLINE uint32_t uxtb16(uint32_t x) {
  asm("uxtb16 %0, %1" : "=r"(x) : "r"(x));
  return x;
}
/// Bytes 1 and 3.
ONNXC_INLINE uint32_t uxtb16_odd(uint32_t x) {
  asm("uxtb16 %0, %1, ror #8" : "=r"(x) : "r"(x));
  return x;
}
#else
ONNXC_INLINE int32_t low(uint32_t x) { return static_cast<int16_t>(x); }
ONNXC_INLINE int32_t high(uint32_t x) { return static_cast<int16_t>(x >> 16); }
ONNXC_INLINE int32_t wrapped(int64_t x) { return static_cast<int32_t>(static_cast<uint32_t>(x)); }
ONNXC_INLINE int32_t smlad(uint32_t x, uint32_t y, int32_t sum) {
  return wrapped(int64_t{low(x)} * low(y) + int64_t{high(x)} * high(y) + sum);
}
ONNXC_INLINE int32_t smlabb(uint32_t x, uint32_t y, int32_t sum) { return wrapped(int64_t{low(x)} * low(y) + sum); }
ONNXC_INLINE int32_t smlatt(uint32_t x, uint32_t y, int32_t sum) { return wrapped(int64_t{high(x)} * high(y) + sum); }
ONNXC_INLINE uint32_t sxtb16(uint32_t x) {
  const auto at = [x](int shift) { return static_cast<uint32_t>(static_cast<int8_t>(x >> shift)) & 0xffffu; };
  return at(0) | at(16) << 16;
}
ONNXC_INLINE uint32_t uxtb16(uint32_t x) { return x & 0x00ff00ffu; }
ONNXC_INLINE uint32_t uxtb16_odd(uint32_t x) { return x >> 8 & 0x00ff00ffu; }
#endif

ONNXC_INLINE uint32_t load_word(const void* p) {
  uint32_t word;
  __builtin_memcpy(&word, p, sizeof word);
  return word;
}

/// Sums of four outputs of one column: d of the outputs 0 and 2, and m.
struct PairedSums {
  int32_t d0, d2, m0, m2;

  ONNXC_INLINE void begin() { m0 = d0, m2 = d2; }
  /// Takes the sums of the outputs 1 and 3 out of m.
  ONNXC_INLINE void end(int32_t& sum1, int32_t& sum3) const {
    const auto apart = [](int32_t m, int32_t d) { return static_cast<int32_t>(static_cast<uint32_t>(m) - static_cast<uint32_t>(d)) >> 8; };
    sum1 += apart(m0, d0);
    sum3 += apart(m2, d2);
  }
  ONNXC_INLINE void add(uint32_t x, uint32_t w0, uint32_t w2) {
    m0 = smlad(x, w0, m0);
    m2 = smlad(x, w2, m2);
    d0 = smlad(x, sxtb16(w0), d0);
    d2 = smlad(x, sxtb16(w2), d2);
  }
};

// Blocks of instructions that take all registers of the core. Without optimisation one of them is the frame's.
#if defined(__ARM_FEATURE_DSP) && defined(__OPTIMIZE__) && !defined(__clang__)
#define ONNXC_DSP_BY_HAND
#endif

/// Eight steps of two columns. It has fourteen operands, all registers of the core: so it is written out, where the compiler would spill
/// some.
ONNXC_INLINE void add_two(PairedSums& a, PairedSums& b, const uint32_t*& x, const uint32_t*& w) {
#if defined(ONNXC_DSP_BY_HAND)
#define ONNXC_TWO_STEPS                                                          \
  "ldrd %[x0], %[x1], [%[x]], #8\n\t"                                            \
  "ldrd %[w0], %[w2], [%[w]], #8\n\t"                                            \
  "smlad %[am0], %[x0], %[w0], %[am0]\n\tsmlad %[bm0], %[x1], %[w0], %[bm0]\n\t" \
  "smlad %[am2], %[x0], %[w2], %[am2]\n\tsmlad %[bm2], %[x1], %[w2], %[bm2]\n\t" \
  "sxtb16 %[w0], %[w0]\n\tsxtb16 %[w2], %[w2]\n\t"                               \
  "smlad %[ad0], %[x0], %[w0], %[ad0]\n\tsmlad %[bd0], %[x1], %[w0], %[bd0]\n\t" \
  "smlad %[ad2], %[x0], %[w2], %[ad2]\n\tsmlad %[bd2], %[x1], %[w2], %[bd2]\n\t"
  uint32_t x0, x1, w0, w2;
  asm(ONNXC_TWO_STEPS ONNXC_TWO_STEPS ONNXC_TWO_STEPS ONNXC_TWO_STEPS
      : [x] "+r"(x), [w] "+r"(w), [ad0] "+r"(a.d0), [ad2] "+r"(a.d2), [am0] "+r"(a.m0), [am2] "+r"(a.m2), [bd0] "+r"(b.d0),
        [bd2] "+r"(b.d2), [bm0] "+r"(b.m0), [bm2] "+r"(b.m2), [x0] "=&r"(x0), [x1] "=&r"(x1), [w0] "=&r"(w0), [w2] "=&r"(w2)
      :
      : "memory");
#undef ONNXC_TWO_STEPS
#else
  for (int i = 0; i < 4; ++i, x += 2, w += 2) {
    a.add(x[0], w[0], w[1]);
    b.add(x[1], w[0], w[1]);
  }
#endif
}

/// Four steps of one column of bytes.
ONNXC_INLINE void add_bytes(PairedSums& a, uint32_t bytes, const uint32_t*& w) {
#if defined(ONNXC_DSP_BY_HAND)
#define ONNXC_PAIR_OF_STEPS(x)                               \
  "ldrd %[w0], %[w2], [%[w]], #8\n\t"                        \
  "smlad %[m0], %[" x "], %[w0], %[m0]\n\tsmlad %[m2], %[" x \
  "], %[w2], %[m2]\n\t"                                      \
  "sxtb16 %[w0], %[w0]\n\tsxtb16 %[w2], %[w2]\n\t"           \
  "smlad %[d0], %[" x "], %[w0], %[d0]\n\tsmlad %[d2], %[" x "], %[w2], %[d2]\n\t"
  uint32_t even, w0, w2;
  asm("uxtb16 %[even], %[odd]\n\tuxtb16 %[odd], %[odd], ror #8\n\t" ONNXC_PAIR_OF_STEPS("even") ONNXC_PAIR_OF_STEPS("odd")
      : [odd] "+r"(bytes), [w] "+r"(w), [d0] "+r"(a.d0), [d2] "+r"(a.d2), [m0] "+r"(a.m0), [m2] "+r"(a.m2), [even] "=&r"(even),
        [w0] "=&r"(w0), [w2] "=&r"(w2)
      :
      : "memory");
#undef ONNXC_PAIR_OF_STEPS
#else
  a.add(uxtb16(bytes), w[0], w[1]);
  a.add(uxtb16_odd(bytes), w[2], w[3]);
  w += 4;
#endif
}

/// Two taps of four channels. The compiler would keep some of its operands in memory.
ONNXC_INLINE void add_taps(int32_t (&s)[4], const uint8_t* x, const std::ptrdiff_t*& tap, const uint32_t*& w) {
#if defined(ONNXC_DSP_BY_HAND)
  uint32_t a, b, lower, upper, pair;
  asm("ldrd %[a], %[b], [%[tap]], #8\n\t"
      "ldr %[a], [%[x], %[a]]\n\t"
      "ldr %[b], [%[x], %[b]]\n\t"
      "pkhbt %[lower], %[a], %[b], lsl #16\n\t"
      "pkhtb %[upper], %[b], %[a], asr #16\n\t"
      "ldrd %[a], %[b], [%[w]], #8\n\t"
      "uxtb16 %[pair], %[lower]\n\tuxtb16 %[lower], %[lower], ror #8\n\t"
      "smlad %[s0], %[pair], %[a], %[s0]\n\tsmlad %[s1], %[lower], %[b], %[s1]\n\t"
      "ldrd %[a], %[b], [%[w]], #8\n\t"
      "uxtb16 %[pair], %[upper]\n\tuxtb16 %[upper], %[upper], ror #8\n\t"
      "smlad %[s2], %[pair], %[a], %[s2]\n\tsmlad %[s3], %[upper], %[b], %[s3]"
      : [tap] "+r"(tap), [w] "+r"(w), [s0] "+r"(s[0]), [s1] "+r"(s[1]), [s2] "+r"(s[2]), [s3] "+r"(s[3]), [a] "=&r"(a), [b] "=&r"(b),
        [lower] "=&r"(lower), [upper] "=&r"(upper), [pair] "=&r"(pair)
      : [x] "r"(x)
      : "memory");
#else
  const uint32_t a = load_word(x + tap[0]), b = load_word(x + tap[1]), lower = (a & 0xffffu) | b << 16, upper = (b & 0xffff0000u) | a >> 16;
  s[0] = smlad(uxtb16(lower), w[0], s[0]);
  s[1] = smlad(uxtb16_odd(lower), w[1], s[1]);
  s[2] = smlad(uxtb16(upper), w[2], s[2]);
  s[3] = smlad(uxtb16_odd(upper), w[3], s[3]);
  tap += 2, w += 4;
#endif
}
#undef ONNXC_DSP_BY_HAND

}  // namespace dsp

struct DspColumns {
  static constexpr contract::ColumnForm kForm = contract::kDspColumns;
  static constexpr bool kInPlace = false;
  static constexpr int32_t kSteps = 256;  ///< of k, after which the sums of second outputs are taken out
  using Tap = int16_t;

  static uint8_t* column(uint8_t* scratch, int32_t j, int32_t) { return scratch + 4 * j; }

  __attribute__((noinline)) static void put(uint8_t* column, int32_t at, const uint8_t* from, int32_t n, bool moves) {
    const auto put_byte = [&]() ONNXC_INLINE_LAMBDA {
      *reinterpret_cast<uint16_t*>(column + at / 4 * 16 + (at & 1) * 8 + (at & 2)) = *from;
      ++at;
      --n;
      if (moves) ++from;
    };
    while (at % 4 != 0 && n > 0) put_byte();
    auto* to = reinterpret_cast<uint32_t*>(column + 4 * at);
    for (; n >= 4; n -= 4, at += 4, to += 4) {
      const uint32_t four = dsp::load_word(from);
      to[0] = dsp::uxtb16(four);
      to[2] = dsp::uxtb16_odd(four);
      if (moves) from += 4;
    }
    while (n > 0) put_byte();
  }

  __attribute__((noinline)) static void multiply(const uint8_t* const (&columns)[2], const int8_t* weights, int32_t k, const int32_t* start,
                                                 int32_t (&sums)[2][4]) {
    const auto *x = reinterpret_cast<const uint32_t*>(columns[0]), *w = reinterpret_cast<const uint32_t*>(weights);
    dsp::PairedSums a{start[0], start[2], 0, 0}, b = a;
    for (auto& s : sums) s[1] = start[1], s[3] = start[3];
    do {
      const uint32_t* const end = x + (k < kSteps ? k : kSteps);
      a.begin(), b.begin();
      do dsp::add_two(a, b, x, w);
      while (x != end);
      a.end(sums[0][1], sums[0][3]), b.end(sums[1][1], sums[1][3]);
      k -= kSteps;
    } while (k > 0);
    sums[0][0] = a.d0, sums[0][2] = a.d2;
    sums[1][0] = b.d0, sums[1][2] = b.d2;
  }

  /// Four bytes of x are taken apart for each panel: a column would take scratch memory.
  __attribute__((noinline)) static void multiply_row(const uint8_t* x, const int8_t* weights, int32_t n, const int32_t* start,
                                                     int32_t (&sums)[4]) {
    const auto* w = reinterpret_cast<const uint32_t*>(weights);
    dsp::PairedSums a{start[0], start[2], 0, 0};
    sums[1] = start[1], sums[3] = start[3];
    do {
      const uint8_t* const end = x + (n < kSteps ? n : kSteps);
      a.begin();
      constexpr int kWords = ONNXC_LEAST_CODE ? 2 : 4;
      for (const uint8_t* const whole = x + (end - x) / (4 * kWords) * (4 * kWords); x != whole; x += 4 * kWords) {
        ONNXC_UNROLL for (int i = 0; i < kWords; ++i) dsp::add_bytes(a, dsp::load_word(x + 4 * i), w);
      }
      while (x != end) {
        uint32_t last = 0;
        const std::ptrdiff_t left = end - x < 4 ? end - x : 4;
        std::memcpy(&last, x, static_cast<std::size_t>(left));
        dsp::add_bytes(a, last, w);
        x += left;
      }
      a.end(sums[1], sums[3]);
      n -= kSteps;
    } while (n > 0);
    sums[0] = a.d0, sums[2] = a.d2;
  }

  /// sums[c] = start[c] + tap by tap what lies at x + offset[tap] + c times weights, c in [0, channels).
  __attribute__((noinline)) static void taps(const uint8_t* x, const std::ptrdiff_t* offset, int32_t count, const int8_t* weights,
                                             const int32_t* start, int32_t channels, int32_t* sums) {
    const auto* w = reinterpret_cast<const uint32_t*>(weights);
    for (; channels >= 4; channels -= 4, x += 4, start += 4, sums += 4) {
      int32_t s[4] = {start[0], start[1], start[2], start[3]};
      const std::ptrdiff_t *tap = offset, *const end = offset + (count & ~1);
      for (; !ONNXC_LEAST_CODE && end - tap >= 4;) dsp::add_taps(s, x, tap, w), dsp::add_taps(s, x, tap, w);
      while (tap != end) dsp::add_taps(s, x, tap, w);
      if (count % 2 != 0) {
        const uint32_t last = dsp::load_word(x + *tap), even = dsp::uxtb16(last), odd = dsp::uxtb16_odd(last);
        s[0] = dsp::smlabb(even, w[0], s[0]);
        s[2] = dsp::smlatt(even, w[0], s[2]);
        s[1] = dsp::smlabb(odd, w[1], s[1]);
        s[3] = dsp::smlatt(odd, w[1], s[3]);
        w += 2;
      }
      for (int r = 0; r < 4; ++r) sums[r] = s[r];
    }
    const auto* const rest = reinterpret_cast<const int16_t*>(w);
    for (int32_t c = 0; c < channels; ++c) {
      int32_t sum = start[c];
      for (int32_t tap = 0; tap < count; ++tap) {
        const bool is_last = tap == count - 1 && count % 2 != 0;
        sum += x[offset[tap] + c] * rest[4 * tap + (is_last ? (c >> 1) + 2 * (c & 1) : 2 * c - 3 * (tap % 2))];
      }
      sums[c] = sum;
    }
  }
};

}  // namespace onnxc::inline ONNXC_ISA
