// The part of Vec that knows the machine, on xsimd. See vec.hpp for the interface.
#pragma once
#include <immintrin.h>

#include <xsimd/xsimd.hpp>

#include "base.hpp"

namespace onnxc::inline ONNXC_ISA {

struct Mask {
  xsimd::batch_bool<float> bits;
  ONNXC_INLINE friend Mask operator&(Mask a, Mask b) { return {a.bits & b.bits}; }
  ONNXC_INLINE friend Mask operator|(Mask a, Mask b) { return {a.bits | b.bits}; }
  ONNXC_INLINE friend Mask operator^(Mask a, Mask b) { return {a.bits != b.bits}; }
  ONNXC_INLINE friend Mask operator~(Mask a) { return {~a.bits}; }
  ONNXC_INLINE friend bool any(Mask a) { return xsimd::any(a.bits); }
};

struct Vec {
  using Batch = xsimd::batch<float>;
  static constexpr int width = kVectorFloats;
  static_assert(width == Batch::size);
  typedef float Raw __attribute__((vector_size(4 * width)));

  Batch batch;

  ONNXC_INLINE Raw raw() const { return (Raw)batch.data; }
  static ONNXC_INLINE Vec from_raw(Raw raw) { return {Batch(raw)}; }

  static ONNXC_INLINE Vec all(float c) { return {Batch(c)}; }
  static ONNXC_INLINE Vec load(const float* p) { return {Batch::load_unaligned(p)}; }
  ONNXC_INLINE void store(float* p) const { batch.store_unaligned(p); }

#if defined(__AVX512F__)
  static ONNXC_INLINE __mmask16 first(int64_t n) { return static_cast<__mmask16>((1u << n) - 1); }
  static ONNXC_INLINE Vec load(const float* p, int64_t n) { return {Batch(_mm512_maskz_loadu_ps(first(n), p))}; }
  ONNXC_INLINE void store(float* p, int64_t n) const { _mm512_mask_storeu_ps(p, first(n), batch); }
#elif defined(__AVX2__)
  static ONNXC_INLINE __m256i first(int64_t n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  static ONNXC_INLINE Vec load(const float* p, int64_t n) { return {Batch(_mm256_maskload_ps(p, first(n)))}; }
  ONNXC_INLINE void store(float* p, int64_t n) const { _mm256_maskstore_ps(p, first(n), batch); }
#else
  static ONNXC_INLINE Vec load(const float* p, int64_t n) {
    float lanes[width] = {};
    for (int64_t i = 0; i < n; ++i) lanes[i] = p[i];
    return load(lanes);
  }
  ONNXC_INLINE void store(float* p, int64_t n) const {
    float lanes[width];
    store(lanes);
    for (int64_t i = 0; i < n; ++i) p[i] = lanes[i];
  }
#endif

  ONNXC_INLINE friend Vec operator+(Vec a, Vec b) { return {a.batch + b.batch}; }
  ONNXC_INLINE friend Vec operator-(Vec a, Vec b) { return {a.batch - b.batch}; }
  ONNXC_INLINE friend Vec operator*(Vec a, Vec b) { return {a.batch * b.batch}; }
  ONNXC_INLINE friend Vec operator/(Vec a, Vec b) { return {a.batch / b.batch}; }
  ONNXC_INLINE friend Mask operator<(Vec a, Vec b) { return {a.batch < b.batch}; }
  ONNXC_INLINE friend Mask operator<=(Vec a, Vec b) { return {a.batch <= b.batch}; }
  ONNXC_INLINE friend Mask operator>(Vec a, Vec b) { return {a.batch > b.batch}; }
  ONNXC_INLINE friend Mask operator>=(Vec a, Vec b) { return {a.batch >= b.batch}; }
  ONNXC_INLINE friend Mask operator==(Vec a, Vec b) { return {a.batch == b.batch}; }
  ONNXC_INLINE friend Mask operator!=(Vec a, Vec b) { return {~(a.batch == b.batch)}; }  // xsimd 8.1: NaN != NaN is false on AVX-512
};

ONNXC_INLINE Vec select(Mask mask, Vec a, Vec b) { return {xsimd::select(mask.bits, a.batch, b.batch)}; }

#if defined(__AVX512F__)
// The zero-masked forms with all lanes on: the plain intrinsics of g++ 12 start from an uninitialised vector and warn (GCC PR 105593).
constexpr bool kHasFma = true;
ONNXC_INLINE Vec fma(Vec a, Vec b, Vec c) { return {Vec::Batch(_mm512_fmadd_ps(a.batch, b.batch, c.batch))}; }
ONNXC_INLINE Vec fnma(Vec a, Vec b, Vec c) { return {Vec::Batch(_mm512_fnmadd_ps(a.batch, b.batch, c.batch))}; }
ONNXC_INLINE Vec max(Vec a, Vec b) { return {Vec::Batch(_mm512_maskz_max_ps(0xffff, a.batch, b.batch))}; }
ONNXC_INLINE Vec min(Vec a, Vec b) { return {Vec::Batch(_mm512_maskz_min_ps(0xffff, a.batch, b.batch))}; }
ONNXC_INLINE Vec sqrt(Vec x) { return {Vec::Batch(_mm512_maskz_sqrt_ps(0xffff, x.batch))}; }
ONNXC_INLINE Vec round(Vec x) { return {Vec::Batch(_mm512_maskz_roundscale_ps(0xffff, x.batch, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC))}; }
ONNXC_INLINE Vec floor(Vec x) { return {Vec::Batch(_mm512_maskz_roundscale_ps(0xffff, x.batch, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC))}; }
ONNXC_INLINE Vec ceil(Vec x) { return {Vec::Batch(_mm512_maskz_roundscale_ps(0xffff, x.batch, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC))}; }
/// x * 2^n, rounded once; n whole.
ONNXC_INLINE Vec scale(Vec x, Vec n) { return {Vec::Batch(_mm512_maskz_scalef_ps(0xffff, x.batch, n.batch))}; }
ONNXC_INLINE void pin(Vec& x) { asm("" : "+v"(x.batch.data)); }
#else
#if defined(__FMA__)
constexpr bool kHasFma = true;
ONNXC_INLINE Vec fma(Vec a, Vec b, Vec c) { return {Vec::Batch(_mm256_fmadd_ps(a.batch, b.batch, c.batch))}; }
ONNXC_INLINE Vec fnma(Vec a, Vec b, Vec c) { return {Vec::Batch(_mm256_fnmadd_ps(a.batch, b.batch, c.batch))}; }
#else
constexpr bool kHasFma = false;
ONNXC_INLINE Vec fma(Vec a, Vec b, Vec c) { return a * b + c; }
ONNXC_INLINE Vec fnma(Vec a, Vec b, Vec c) { return c - a * b; }
#endif
ONNXC_INLINE Vec max(Vec a, Vec b) { return {xsimd::max(a.batch, b.batch)}; }
ONNXC_INLINE Vec min(Vec a, Vec b) { return {xsimd::min(a.batch, b.batch)}; }
ONNXC_INLINE Vec sqrt(Vec x) { return {xsimd::sqrt(x.batch)}; }
ONNXC_INLINE Vec round(Vec x) { return {xsimd::nearbyint(x.batch)}; }
ONNXC_INLINE Vec floor(Vec x) { return {xsimd::floor(x.batch)}; }
ONNXC_INLINE Vec ceil(Vec x) { return {xsimd::ceil(x.batch)}; }
ONNXC_INLINE void pin(Vec& x) { asm("" : "+x"(x.batch.data)); }
#endif

}  // namespace onnxc
