// The part of Vec that knows the machine, for x86 from SSE4.1 on: vectors of the compiler's own for arithmetic, intrinsics for what they lack. See vec.hpp.
#pragma once
#include <immintrin.h>

#include "base.hpp"

namespace onnxc::inline ONNXC_ISA {

#if defined(__AVX512F__)

struct Mask {
  __mmask16 bits;
  ONNXC_INLINE friend Mask operator&(Mask a, Mask b) { return {static_cast<__mmask16>(a.bits & b.bits)}; }
  ONNXC_INLINE friend Mask operator|(Mask a, Mask b) { return {static_cast<__mmask16>(a.bits | b.bits)}; }
  ONNXC_INLINE friend Mask operator^(Mask a, Mask b) { return {static_cast<__mmask16>(a.bits ^ b.bits)}; }
  ONNXC_INLINE friend Mask operator~(Mask a) { return {static_cast<__mmask16>(~a.bits)}; }
  ONNXC_INLINE friend bool any(Mask a) { return a.bits != 0; }
};

#else

struct Mask {
  typedef int32_t Raw __attribute__((vector_size(4 * kVectorFloats)));
  Raw bits;  // all ones or all zeros in each lane
  ONNXC_INLINE friend Mask operator&(Mask a, Mask b) { return {a.bits & b.bits}; }
  ONNXC_INLINE friend Mask operator|(Mask a, Mask b) { return {a.bits | b.bits}; }
  ONNXC_INLINE friend Mask operator^(Mask a, Mask b) { return {a.bits ^ b.bits}; }
  ONNXC_INLINE friend Mask operator~(Mask a) { return {~a.bits}; }
#if defined(__AVX__)
  ONNXC_INLINE friend bool any(Mask a) { return _mm256_movemask_ps((__m256)a.bits) != 0; }
#else
  ONNXC_INLINE friend bool any(Mask a) { return _mm_movemask_ps((__m128)a.bits) != 0; }
#endif
};

#endif

struct Vec {
  static constexpr int width = kVectorFloats;
  typedef float Raw __attribute__((vector_size(4 * width)));

  Raw lanes;

  ONNXC_INLINE Raw raw() const { return lanes; }
  static ONNXC_INLINE Vec from_raw(Raw raw) { return {raw}; }

  static ONNXC_INLINE Vec all(float c) { return {c - Raw{}}; }  // minus: -0 + 0 would be 0
  static ONNXC_INLINE Vec load(const float* p) {
    Vec x;
    __builtin_memcpy(&x, p, sizeof x);
    return x;
  }
  ONNXC_INLINE void store(float* p) const { __builtin_memcpy(p, &lanes, sizeof lanes); }

#if defined(__AVX512F__)
  static ONNXC_INLINE __mmask16 first(int64_t n) { return static_cast<__mmask16>((1u << n) - 1); }
  static ONNXC_INLINE Vec load(const float* p, int64_t n) { return {(Raw)_mm512_maskz_loadu_ps(first(n), p)}; }
  ONNXC_INLINE void store(float* p, int64_t n) const { _mm512_mask_storeu_ps(p, first(n), (__m512)lanes); }
#elif defined(__AVX2__)
  static ONNXC_INLINE __m256i first(int64_t n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  static ONNXC_INLINE Vec load(const float* p, int64_t n) { return {(Raw)_mm256_maskload_ps(p, first(n))}; }
  ONNXC_INLINE void store(float* p, int64_t n) const { _mm256_maskstore_ps(p, first(n), (__m256)lanes); }
#else
  static ONNXC_INLINE Vec load(const float* p, int64_t n) {
    float values[width] = {};
    for (int64_t i = 0; i < n; ++i) values[i] = p[i];
    return load(values);
  }
  ONNXC_INLINE void store(float* p, int64_t n) const {
    float values[width];
    store(values);
    for (int64_t i = 0; i < n; ++i) p[i] = values[i];
  }
#endif

  ONNXC_INLINE friend Vec operator+(Vec a, Vec b) { return {a.lanes + b.lanes}; }
  ONNXC_INLINE friend Vec operator-(Vec a, Vec b) { return {a.lanes - b.lanes}; }
  ONNXC_INLINE friend Vec operator*(Vec a, Vec b) { return {a.lanes * b.lanes}; }
  ONNXC_INLINE friend Vec operator/(Vec a, Vec b) { return {a.lanes / b.lanes}; }
#if defined(__AVX512F__)
#define ONNXC_COMPARE(symbol, predicate) \
  ONNXC_INLINE friend Mask operator symbol(Vec a, Vec b) { return {_mm512_cmp_ps_mask((__m512)a.lanes, (__m512)b.lanes, predicate)}; }
#else
#define ONNXC_COMPARE(symbol, predicate) \
  ONNXC_INLINE friend Mask operator symbol(Vec a, Vec b) { return {(Mask::Raw)(a.lanes symbol b.lanes)}; }
#endif
  ONNXC_COMPARE(<, _CMP_LT_OQ)
  ONNXC_COMPARE(<=, _CMP_LE_OQ)
  ONNXC_COMPARE(>, _CMP_GT_OQ)
  ONNXC_COMPARE(>=, _CMP_GE_OQ)
  ONNXC_COMPARE(==, _CMP_EQ_OQ)
  ONNXC_COMPARE(!=, _CMP_NEQ_UQ)
#undef ONNXC_COMPARE
};

#if defined(__AVX512F__) || defined(__FMA__)
constexpr bool kHasFma = true;
#else
constexpr bool kHasFma = false;
#endif

#if defined(__AVX512F__)
// The zero-masked forms with all lanes on: the plain intrinsics of g++ 12 start from an uninitialised vector and warn (GCC PR 105593).
ONNXC_INLINE Vec select(Mask mask, Vec a, Vec b) { return {(Vec::Raw)_mm512_mask_blend_ps(mask.bits, (__m512)b.lanes, (__m512)a.lanes)}; }
ONNXC_INLINE Vec fma(Vec a, Vec b, Vec c) { return {(Vec::Raw)_mm512_fmadd_ps((__m512)a.lanes, (__m512)b.lanes, (__m512)c.lanes)}; }
ONNXC_INLINE Vec fnma(Vec a, Vec b, Vec c) { return {(Vec::Raw)_mm512_fnmadd_ps((__m512)a.lanes, (__m512)b.lanes, (__m512)c.lanes)}; }
ONNXC_INLINE Vec max(Vec a, Vec b) { return {(Vec::Raw)_mm512_maskz_max_ps(0xffff, (__m512)a.lanes, (__m512)b.lanes)}; }
ONNXC_INLINE Vec min(Vec a, Vec b) { return {(Vec::Raw)_mm512_maskz_min_ps(0xffff, (__m512)a.lanes, (__m512)b.lanes)}; }
ONNXC_INLINE Vec sqrt(Vec x) { return {(Vec::Raw)_mm512_maskz_sqrt_ps(0xffff, (__m512)x.lanes)}; }
ONNXC_INLINE Vec round(Vec x) {
  return {(Vec::Raw)_mm512_maskz_roundscale_ps(0xffff, (__m512)x.lanes, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
ONNXC_INLINE Vec floor(Vec x) { return {(Vec::Raw)_mm512_maskz_roundscale_ps(0xffff, (__m512)x.lanes, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)}; }
ONNXC_INLINE Vec ceil(Vec x) { return {(Vec::Raw)_mm512_maskz_roundscale_ps(0xffff, (__m512)x.lanes, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC)}; }
/// x * 2^n, rounded once; n whole.
ONNXC_INLINE Vec scale(Vec x, Vec n) { return {(Vec::Raw)_mm512_maskz_scalef_ps(0xffff, (__m512)x.lanes, (__m512)n.lanes)}; }
ONNXC_INLINE void pin(Vec& x) { asm("" : "+v"(x.lanes)); }

#elif defined(__AVX__)

ONNXC_INLINE Vec select(Mask mask, Vec a, Vec b) { return {(Vec::Raw)_mm256_blendv_ps((__m256)b.lanes, (__m256)a.lanes, (__m256)mask.bits)}; }
#if defined(__FMA__)
ONNXC_INLINE Vec fma(Vec a, Vec b, Vec c) { return {(Vec::Raw)_mm256_fmadd_ps((__m256)a.lanes, (__m256)b.lanes, (__m256)c.lanes)}; }
ONNXC_INLINE Vec fnma(Vec a, Vec b, Vec c) { return {(Vec::Raw)_mm256_fnmadd_ps((__m256)a.lanes, (__m256)b.lanes, (__m256)c.lanes)}; }
#else
ONNXC_INLINE Vec fma(Vec a, Vec b, Vec c) { return a * b + c; }
ONNXC_INLINE Vec fnma(Vec a, Vec b, Vec c) { return c - a * b; }
#endif
ONNXC_INLINE Vec max(Vec a, Vec b) { return {(Vec::Raw)_mm256_max_ps((__m256)a.lanes, (__m256)b.lanes)}; }
ONNXC_INLINE Vec min(Vec a, Vec b) { return {(Vec::Raw)_mm256_min_ps((__m256)a.lanes, (__m256)b.lanes)}; }
ONNXC_INLINE Vec sqrt(Vec x) { return {(Vec::Raw)_mm256_sqrt_ps((__m256)x.lanes)}; }
ONNXC_INLINE Vec round(Vec x) { return {(Vec::Raw)_mm256_round_ps((__m256)x.lanes, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)}; }
ONNXC_INLINE Vec floor(Vec x) { return {(Vec::Raw)_mm256_round_ps((__m256)x.lanes, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)}; }
ONNXC_INLINE Vec ceil(Vec x) { return {(Vec::Raw)_mm256_round_ps((__m256)x.lanes, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC)}; }
ONNXC_INLINE void pin(Vec& x) { asm("" : "+x"(x.lanes)); }

#else

ONNXC_INLINE Vec select(Mask mask, Vec a, Vec b) { return {(Vec::Raw)_mm_blendv_ps((__m128)b.lanes, (__m128)a.lanes, (__m128)mask.bits)}; }
ONNXC_INLINE Vec fma(Vec a, Vec b, Vec c) { return a * b + c; }
ONNXC_INLINE Vec fnma(Vec a, Vec b, Vec c) { return c - a * b; }
ONNXC_INLINE Vec max(Vec a, Vec b) { return {(Vec::Raw)_mm_max_ps((__m128)a.lanes, (__m128)b.lanes)}; }
ONNXC_INLINE Vec min(Vec a, Vec b) { return {(Vec::Raw)_mm_min_ps((__m128)a.lanes, (__m128)b.lanes)}; }
ONNXC_INLINE Vec sqrt(Vec x) { return {(Vec::Raw)_mm_sqrt_ps((__m128)x.lanes)}; }
ONNXC_INLINE Vec round(Vec x) { return {(Vec::Raw)_mm_round_ps((__m128)x.lanes, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)}; }
ONNXC_INLINE Vec floor(Vec x) { return {(Vec::Raw)_mm_round_ps((__m128)x.lanes, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)}; }
ONNXC_INLINE Vec ceil(Vec x) { return {(Vec::Raw)_mm_round_ps((__m128)x.lanes, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC)}; }
ONNXC_INLINE void pin(Vec& x) { asm("" : "+x"(x.lanes)); }

#endif

}  // namespace onnxc
