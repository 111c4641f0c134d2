// The instructions that Vec uses by name where the vector extensions of GCC and Clang cannot express them: SSE4.1, AVX,
// AVX-512. See vec_x86.hpp.
#pragma once
#if defined(__AVX__)
#include <immintrin.h>
#else
#include <smmintrin.h>
#endif

#include "isa.hpp"

#include <cstdint>

namespace onnxc::inline ONNXC_ISA::x86 {

typedef float Floats __attribute__((vector_size(4 * kVectorFloats)));

typedef short Halves __attribute__((vector_size(2 * kVectorFloats)));
typedef int32_t Ints __attribute__((vector_size(4 * kVectorFloats)));
/// Integers of 8 and 16 bits, of which the first kVectorFloats are widened.
typedef int8_t SignedBytes __attribute__((vector_size(16)));
typedef uint8_t UnsignedBytes __attribute__((vector_size(16)));
typedef int16_t SignedHalves __attribute__((vector_size(kVectorFloats > 8 ? 32 : 16)));
typedef uint16_t UnsignedHalves __attribute__((vector_size(kVectorFloats > 8 ? 32 : 16)));

#if defined(__AVX512F__)

typedef __mmask16 Lanes;

ONNXC_INLINE Lanes first(int64_t n) { return static_cast<Lanes>((1u << n) - 1); }
ONNXC_INLINE Floats load(const float* p, int64_t n) { return (Floats)_mm512_maskz_loadu_ps(first(n), p); }
ONNXC_INLINE void store(float* p, int64_t n, Floats x) { _mm512_mask_storeu_ps(p, first(n), (__m512)x); }

template <int kPredicate>
ONNXC_INLINE Lanes compare(Floats a, Floats b) {
  return _mm512_cmp_ps_mask((__m512)a, (__m512)b, kPredicate);
}
ONNXC_INLINE bool any(Lanes mask) { return mask != 0; }
ONNXC_INLINE unsigned lane_bits(Lanes mask) { return mask; }
ONNXC_INLINE Lanes less(Ints a, Ints b) { return _mm512_cmplt_epi32_mask((__m512i)a, (__m512i)b); }
ONNXC_INLINE Floats select(Lanes mask, Floats a, Floats b) { return (Floats)_mm512_mask_blend_ps(mask, (__m512)b, (__m512)a); }

ONNXC_INLINE Floats fma(Floats a, Floats b, Floats c) { return (Floats)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }
ONNXC_INLINE Floats fnma(Floats a, Floats b, Floats c) { return (Floats)_mm512_fnmadd_ps((__m512)a, (__m512)b, (__m512)c); }
ONNXC_INLINE Floats max(Floats a, Floats b) { return (Floats)_mm512_max_ps((__m512)a, (__m512)b); }
ONNXC_INLINE Floats min(Floats a, Floats b) { return (Floats)_mm512_min_ps((__m512)a, (__m512)b); }
ONNXC_INLINE Floats sqrt(Floats x) { return (Floats)_mm512_sqrt_ps((__m512)x); }
ONNXC_INLINE Floats scale(Floats x, Floats n) { return (Floats)_mm512_scalef_ps((__m512)x, (__m512)n); }
ONNXC_INLINE Floats reciprocal_14(Floats x) { return (Floats)_mm512_rcp14_ps((__m512)x); }
ONNXC_INLINE Floats pick(Floats low, Floats high, Ints index) {
  return (Floats)_mm512_permutex2var_ps((__m512)low, (__m512i)index, (__m512)high);
}
#if defined(__AVX512BW__)
typedef short Pairs __attribute__((vector_size(64)));
ONNXC_INLINE Ints multiply_pairs(Pairs a, Pairs b) { return (Ints)_mm512_madd_epi16((__m512i)a, (__m512i)b); }
/// The elements of four vectors, each saturated to a byte, in order.
template <bool is_signed>
ONNXC_INLINE Ints pack_bytes(Ints a, Ints b, Ints c, Ints d) {
  const __m512i low = _mm512_packs_epi32((__m512i)a, (__m512i)b), high = _mm512_packs_epi32((__m512i)c, (__m512i)d);
  const __m512i mixed = is_signed ? _mm512_packs_epi16(low, high) : _mm512_packus_epi16(low, high);
  return (Ints)_mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), mixed);
}
#endif
#if defined(__AVX512VBMI__)
typedef uint8_t WideBytes __attribute__((vector_size(64)));
/// Byte i is that of the 128 bytes of low and high that the lower 7 bits of index[i] name.
ONNXC_INLINE WideBytes pick_bytes(WideBytes low, WideBytes high, WideBytes index) {
  return (WideBytes)_mm512_permutex2var_epi8((__m512i)low, (__m512i)index, (__m512i)high);
}
#endif
ONNXC_INLINE Ints widen(SignedBytes x) { return (Ints)_mm512_cvtepi8_epi32((__m128i)x); }
ONNXC_INLINE Ints widen(UnsignedBytes x) { return (Ints)_mm512_cvtepu8_epi32((__m128i)x); }
ONNXC_INLINE Ints widen(SignedHalves x) { return (Ints)_mm512_cvtepi16_epi32((__m256i)x); }
ONNXC_INLINE Ints widen(UnsignedHalves x) { return (Ints)_mm512_cvtepu16_epi32((__m256i)x); }
#if defined(__AVX512BW__) && defined(__AVX512VL__)
typedef char Bytes __attribute__((vector_size(16)));
/// The first n integers at p, and zeros.
ONNXC_INLINE Bytes load_bytes(const void* p, int64_t n) { return (Bytes)_mm_maskz_loadu_epi8(first(n), p); }
ONNXC_INLINE Halves load_halves(const void* p, int64_t n) { return (Halves)_mm256_maskz_loadu_epi16(first(n), p); }
ONNXC_INLINE Ints load_ints(const void* p, int64_t n) { return (Ints)_mm512_maskz_loadu_epi32(first(n), p); }
ONNXC_INLINE void store_bytes(void* p, int64_t n, Bytes x) { _mm_mask_storeu_epi8(p, first(n), (__m128i)x); }
ONNXC_INLINE void store_halves(void* p, int64_t n, Halves x) { _mm256_mask_storeu_epi16(p, first(n), (__m256i)x); }
ONNXC_INLINE void store_ints(void* p, int64_t n, Ints x) { _mm512_mask_storeu_epi32(p, first(n), (__m512i)x); }
#endif
ONNXC_INLINE SignedBytes narrow_to_bytes(Ints x) { return (SignedBytes)_mm512_cvtepi32_epi8((__m512i)x); }
ONNXC_INLINE SignedHalves narrow_to_halves(Ints x) { return (SignedHalves)_mm512_cvtepi32_epi16((__m512i)x); }
ONNXC_INLINE Floats widen_halves(Halves x) { return (Floats)_mm512_cvtph_ps((__m256i)x); }
ONNXC_INLINE Halves narrow_to_halves(Floats x) { return (Halves)_mm512_cvtps_ph((__m512)x, 0); }  // 0: half to even
template <int kMode>
ONNXC_INLINE Floats round(Floats x) {
  return (Floats)_mm512_roundscale_ps((__m512)x, kMode);
}
ONNXC_INLINE Ints nearest(Floats x) { return (Ints)_mm512_cvt_roundps_epi32((__m512)x, 8); }  // 8: half to even

#elif defined(__AVX__)

typedef int32_t Lanes __attribute__((vector_size(32)));  // all ones or all zeros in each

ONNXC_INLINE Lanes first(int64_t n) { return static_cast<int>(n) > Lanes{0, 1, 2, 3, 4, 5, 6, 7}; }
ONNXC_INLINE Floats load(const float* p, int64_t n) { return (Floats)_mm256_maskload_ps(p, (__m256i)first(n)); }
ONNXC_INLINE void store(float* p, int64_t n, Floats x) { _mm256_maskstore_ps(p, (__m256i)first(n), (__m256)x); }

ONNXC_INLINE unsigned lane_bits(Lanes mask) { return static_cast<unsigned>(_mm256_movemask_ps((__m256)mask)); }
ONNXC_INLINE bool any(Lanes mask) { return lane_bits(mask) != 0; }
ONNXC_INLINE Floats select(Lanes mask, Floats a, Floats b) { return (Floats)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)mask); }

#if defined(__FMA__)
ONNXC_INLINE Floats fma(Floats a, Floats b, Floats c) { return (Floats)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }
ONNXC_INLINE Floats fnma(Floats a, Floats b, Floats c) { return (Floats)_mm256_fnmadd_ps((__m256)a, (__m256)b, (__m256)c); }
#endif
ONNXC_INLINE Floats max(Floats a, Floats b) { return (Floats)_mm256_max_ps((__m256)a, (__m256)b); }
ONNXC_INLINE Floats min(Floats a, Floats b) { return (Floats)_mm256_min_ps((__m256)a, (__m256)b); }
ONNXC_INLINE Floats sqrt(Floats x) { return (Floats)_mm256_sqrt_ps((__m256)x); }
#if defined(__AVX2__)
typedef short Pairs __attribute__((vector_size(32)));
ONNXC_INLINE Ints multiply_pairs(Pairs a, Pairs b) { return (Ints)_mm256_madd_epi16((__m256i)a, (__m256i)b); }
ONNXC_INLINE Ints widen(SignedBytes x) { return (Ints)_mm256_cvtepi8_epi32((__m128i)x); }
ONNXC_INLINE Ints widen(UnsignedBytes x) { return (Ints)_mm256_cvtepu8_epi32((__m128i)x); }
ONNXC_INLINE Ints widen(SignedHalves x) { return (Ints)_mm256_cvtepi16_epi32((__m128i)x); }
ONNXC_INLINE Ints widen(UnsignedHalves x) { return (Ints)_mm256_cvtepu16_epi32((__m128i)x); }
ONNXC_INLINE Floats pick(Floats low, Floats high, Ints index) {
  const Floats a = (Floats)_mm256_permutevar8x32_ps((__m256)low, (__m256i)index),
               b = (Floats)_mm256_permutevar8x32_ps((__m256)high, (__m256i)index);
  return select(index << 28, b, a);  // the sign of a lane selects
}
#endif
#if defined(__F16C__)
ONNXC_INLINE Floats widen_halves(Halves x) { return (Floats)_mm256_cvtph_ps((__m128i)x); }
ONNXC_INLINE Halves narrow_to_halves(Floats x) { return (Halves)_mm256_cvtps_ph((__m256)x, 0); }  // 0: half to even
#endif
template <int kMode>
ONNXC_INLINE Floats round(Floats x) {
  return (Floats)_mm256_round_ps((__m256)x, kMode);
}
ONNXC_INLINE Ints nearest(Floats x) { return (Ints)_mm256_cvtps_epi32((__m256)x); }

#else

typedef int32_t Lanes __attribute__((vector_size(16)));  // all ones or all zeros in each

ONNXC_INLINE Floats load(const float* p, int64_t n) {
  Floats x{};
  __builtin_memcpy(&x, p, static_cast<size_t>(n) * sizeof(float));
  return x;
}
ONNXC_INLINE void store(float* p, int64_t n, Floats x) { __builtin_memcpy(p, &x, static_cast<size_t>(n) * sizeof(float)); }

ONNXC_INLINE unsigned lane_bits(Lanes mask) { return static_cast<unsigned>(_mm_movemask_ps((__m128)mask)); }
ONNXC_INLINE bool any(Lanes mask) { return lane_bits(mask) != 0; }
ONNXC_INLINE Floats select(Lanes mask, Floats a, Floats b) { return (Floats)_mm_blendv_ps((__m128)b, (__m128)a, (__m128)mask); }
ONNXC_INLINE Floats max(Floats a, Floats b) { return (Floats)_mm_max_ps((__m128)a, (__m128)b); }
ONNXC_INLINE Floats min(Floats a, Floats b) { return (Floats)_mm_min_ps((__m128)a, (__m128)b); }
ONNXC_INLINE Floats sqrt(Floats x) { return (Floats)_mm_sqrt_ps((__m128)x); }
typedef short Pairs __attribute__((vector_size(16)));
ONNXC_INLINE Ints multiply_pairs(Pairs a, Pairs b) { return (Ints)_mm_madd_epi16((__m128i)a, (__m128i)b); }
ONNXC_INLINE Ints widen(SignedBytes x) { return (Ints)_mm_cvtepi8_epi32((__m128i)x); }
ONNXC_INLINE Ints widen(UnsignedBytes x) { return (Ints)_mm_cvtepu8_epi32((__m128i)x); }
ONNXC_INLINE Ints widen(SignedHalves x) { return (Ints)_mm_cvtepi16_epi32((__m128i)x); }
ONNXC_INLINE Ints widen(UnsignedHalves x) { return (Ints)_mm_cvtepu16_epi32((__m128i)x); }
template <int kMode>
ONNXC_INLINE Floats round(Floats x) {
  return (Floats)_mm_round_ps((__m128)x, kMode);
}
ONNXC_INLINE Ints nearest(Floats x) { return (Ints)_mm_cvtps_epi32((__m128)x); }

#endif

}  // namespace onnxc::inline ONNXC_ISA::x86
