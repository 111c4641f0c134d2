// What x86_intrinsics.hpp declares, by g++'s own names for the instructions, because <immintrin.h> takes g++ half as
// long to read as a small unit takes in all. AVX and wider.
#pragma once
#include "isa.hpp"

#include <cstdint>

#if defined(_WIN64) && !defined(ONNXC_UNALIGNED_MOVES)
#error \
    "g++ does not align the stack for AVX on Windows: compile with -Wa,-muse-unaligned-vector-move -DONNXC_UNALIGNED_MOVES, or ask onnxc for --target=x86-64-v2"
#endif

#if defined(__CUDACC__)
#pragma nv_diagnostic push
#pragma nv_diag_suppress 68  // masks are unsigned, and nvcc takes those of g++'s own functions for signed
#endif

namespace onnxc::inline ONNXC_ISA::x86 {

typedef float Floats __attribute__((vector_size(4 * kVectorFloats)));

typedef short Halves __attribute__((vector_size(2 * kVectorFloats)));
typedef int32_t Ints __attribute__((vector_size(4 * kVectorFloats)));
typedef char Bytes __attribute__((vector_size(16)));  // the first kVectorFloats of them
/// Integers of 8 and 16 bits, of which the first kVectorFloats are widened.
typedef int8_t SignedBytes __attribute__((vector_size(16)));
typedef uint8_t UnsignedBytes __attribute__((vector_size(16)));
typedef int16_t SignedHalves __attribute__((vector_size(kVectorFloats > 8 ? 32 : 16)));
typedef uint16_t UnsignedHalves __attribute__((vector_size(kVectorFloats > 8 ? 32 : 16)));

#if defined(__AVX512F__)

typedef uint16_t Lanes;
constexpr int kRoundAsSet = 4;  // round as MXCSR says
constexpr Lanes kAll = 0xffff;
constexpr int16_t kAllSigned = -1;  // the same for builtins that also round, which take a signed mask

ONNXC_INLINE Lanes first(int64_t n) { return static_cast<Lanes>((1u << n) - 1); }
ONNXC_INLINE Floats load(const float* p, int64_t n) { return __builtin_ia32_loadups512_mask(p, Floats{}, first(n)); }
ONNXC_INLINE void store(float* p, int64_t n, Floats x) { __builtin_ia32_storeups512_mask(p, x, first(n)); }

template <int kPredicate>
ONNXC_INLINE Lanes compare(Floats a, Floats b) {
  return __builtin_ia32_cmpps512_mask(a, b, kPredicate, kAll, kRoundAsSet);
}
ONNXC_INLINE bool any(Lanes mask) { return mask != 0; }
ONNXC_INLINE unsigned lane_bits(Lanes mask) { return mask; }
ONNXC_INLINE Lanes less(Ints a, Ints b) { return static_cast<Lanes>(__builtin_ia32_cmpd512_mask(a, b, 1, kAll)); }
ONNXC_INLINE Floats select(Lanes mask, Floats a, Floats b) { return __builtin_ia32_blendmps_512_mask(b, a, mask); }

ONNXC_INLINE Floats fma(Floats a, Floats b, Floats c) { return __builtin_ia32_vfmaddps512_mask(a, b, c, kAllSigned, kRoundAsSet); }
ONNXC_INLINE Floats fnma(Floats a, Floats b, Floats c) { return __builtin_ia32_vfnmaddps512_mask(a, b, c, kAllSigned, kRoundAsSet); }
ONNXC_INLINE Floats max(Floats a, Floats b) { return __builtin_ia32_maxps512_mask(a, b, Floats{}, kAllSigned, kRoundAsSet); }
ONNXC_INLINE Floats min(Floats a, Floats b) { return __builtin_ia32_minps512_mask(a, b, Floats{}, kAllSigned, kRoundAsSet); }
ONNXC_INLINE Floats sqrt(Floats x) { return __builtin_ia32_sqrtps512_mask(x, Floats{}, kAllSigned, kRoundAsSet); }
ONNXC_INLINE Floats scale(Floats x, Floats n) { return __builtin_ia32_scalefps512_mask(x, n, Floats{}, kAllSigned, kRoundAsSet); }
ONNXC_INLINE Floats reciprocal_14(Floats x) { return __builtin_ia32_rcp14ps512_mask(x, Floats{}, kAll); }
ONNXC_INLINE Floats pick(Floats low, Floats high, Ints index) { return __builtin_ia32_vpermt2varps512_mask(index, low, high, kAll); }
ONNXC_INLINE Ints widen(SignedBytes x) { return __builtin_ia32_pmovsxbd512_mask((Bytes)x, Ints{}, kAll); }
ONNXC_INLINE Ints widen(UnsignedBytes x) { return __builtin_ia32_pmovzxbd512_mask((Bytes)x, Ints{}, kAll); }
ONNXC_INLINE Ints widen(SignedHalves x) { return __builtin_ia32_pmovsxwd512_mask((Halves)x, Ints{}, kAll); }
ONNXC_INLINE Ints widen(UnsignedHalves x) { return __builtin_ia32_pmovzxwd512_mask((Halves)x, Ints{}, kAll); }
#if defined(__AVX512BW__)
typedef short Pairs __attribute__((vector_size(64)));
ONNXC_INLINE Ints multiply_pairs(Pairs a, Pairs b) { return __builtin_ia32_pmaddwd512_mask(a, b, Ints{}, kAll); }
/// The elements of four vectors, each saturated to a byte, in order.
template <bool is_signed>
ONNXC_INLINE Ints pack_bytes(Ints a, Ints b, Ints c, Ints d) {
  typedef char Chars __attribute__((vector_size(64)));
  const Pairs low = __builtin_ia32_packssdw512_mask(a, b, Pairs{}, ~0u), high = __builtin_ia32_packssdw512_mask(c, d, Pairs{}, ~0u);
  Chars mixed;
  if constexpr (is_signed) mixed = __builtin_ia32_packsswb512_mask(low, high, Chars{}, ~0ull);
  else mixed = __builtin_ia32_packuswb512_mask(low, high, Chars{}, ~0ull);
  return __builtin_ia32_permvarsi512_mask((Ints)mixed, Ints{0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15}, Ints{}, kAll);
}
#endif
#if defined(__AVX512VBMI__)
typedef uint8_t WideBytes __attribute__((vector_size(64)));
/// Byte i is that of the 128 bytes of low and high that the lower 7 bits of index[i] name.
ONNXC_INLINE WideBytes pick_bytes(WideBytes low, WideBytes high, WideBytes index) {
  typedef char Chars __attribute__((vector_size(64)));
  return (WideBytes)__builtin_ia32_vpermt2varqi512_mask((Chars)index, (Chars)low, (Chars)high, ~0ull);
}
#endif
#if defined(__AVX512BW__) && defined(__AVX512VL__)
/// The first n integers at p, and zeros.
ONNXC_INLINE Bytes load_bytes(const void* p, int64_t n) {
  return __builtin_ia32_loaddquqi128_mask(static_cast<const char*>(p), Bytes{}, first(n));
}
ONNXC_INLINE Halves load_halves(const void* p, int64_t n) {
  return __builtin_ia32_loaddquhi256_mask(static_cast<const short*>(p), Halves{}, first(n));
}
ONNXC_INLINE Ints load_ints(const void* p, int64_t n) {
  return __builtin_ia32_loaddqusi512_mask(static_cast<const int*>(p), Ints{}, first(n));
}
ONNXC_INLINE void store_bytes(void* p, int64_t n, Bytes x) { __builtin_ia32_storedquqi128_mask(static_cast<char*>(p), x, first(n)); }
ONNXC_INLINE void store_halves(void* p, int64_t n, Halves x) { __builtin_ia32_storedquhi256_mask(static_cast<short*>(p), x, first(n)); }
ONNXC_INLINE void store_ints(void* p, int64_t n, Ints x) { __builtin_ia32_storedqusi512_mask(static_cast<int*>(p), x, first(n)); }
#endif
ONNXC_INLINE SignedBytes narrow_to_bytes(Ints x) { return (SignedBytes)__builtin_ia32_pmovdb512_mask(x, Bytes{}, kAll); }
ONNXC_INLINE SignedHalves narrow_to_halves(Ints x) { return (SignedHalves)__builtin_ia32_pmovdw512_mask(x, Halves{}, kAll); }
ONNXC_INLINE Floats widen_halves(Halves x) { return __builtin_ia32_vcvtph2ps512_mask(x, Floats{}, kAllSigned, kRoundAsSet); }
ONNXC_INLINE Halves narrow_to_halves(Floats x) { return __builtin_ia32_vcvtps2ph512_mask(x, 0, Halves{}, kAll); }  // 0: half to even
template <int kMode>
ONNXC_INLINE Floats round(Floats x) {
  return __builtin_ia32_rndscaleps_mask(x, kMode, Floats{}, kAllSigned, kRoundAsSet);
}
ONNXC_INLINE Ints nearest(Floats x) { return __builtin_ia32_cvtps2dq512_mask(x, Ints{}, kAllSigned, 8); }  // 8: half to even

#else

typedef int32_t Lanes __attribute__((vector_size(32)));  // all ones or all zeros in each

ONNXC_INLINE Lanes first(int64_t n) { return static_cast<int>(n) > Lanes{0, 1, 2, 3, 4, 5, 6, 7}; }
ONNXC_INLINE Floats load(const float* p, int64_t n) { return __builtin_ia32_maskloadps256(reinterpret_cast<const Floats*>(p), first(n)); }
ONNXC_INLINE void store(float* p, int64_t n, Floats x) { __builtin_ia32_maskstoreps256(reinterpret_cast<Floats*>(p), first(n), x); }

ONNXC_INLINE unsigned lane_bits(Lanes mask) { return static_cast<unsigned>(__builtin_ia32_movmskps256((Floats)mask)); }
ONNXC_INLINE bool any(Lanes mask) { return lane_bits(mask) != 0; }
ONNXC_INLINE Floats select(Lanes mask, Floats a, Floats b) { return __builtin_ia32_blendvps256(b, a, (Floats)mask); }

#if defined(__FMA__)
ONNXC_INLINE Floats fma(Floats a, Floats b, Floats c) { return __builtin_ia32_vfmaddps256(a, b, c); }
ONNXC_INLINE Floats fnma(Floats a, Floats b, Floats c) { return __builtin_ia32_vfnmaddps256(a, b, c); }
#endif
ONNXC_INLINE Floats max(Floats a, Floats b) { return __builtin_ia32_maxps256(a, b); }
ONNXC_INLINE Floats min(Floats a, Floats b) { return __builtin_ia32_minps256(a, b); }
ONNXC_INLINE Floats sqrt(Floats x) { return __builtin_ia32_sqrtps256(x); }
#if defined(__AVX2__)
typedef short Pairs __attribute__((vector_size(32)));
ONNXC_INLINE Ints multiply_pairs(Pairs a, Pairs b) { return __builtin_ia32_pmaddwd256(a, b); }
ONNXC_INLINE Ints widen(SignedBytes x) { return __builtin_ia32_pmovsxbd256((Bytes)x); }
ONNXC_INLINE Ints widen(UnsignedBytes x) { return __builtin_ia32_pmovzxbd256((Bytes)x); }
ONNXC_INLINE Ints widen(SignedHalves x) { return __builtin_ia32_pmovsxwd256((Halves)x); }
ONNXC_INLINE Ints widen(UnsignedHalves x) { return __builtin_ia32_pmovzxwd256((Halves)x); }
ONNXC_INLINE Floats pick(Floats low, Floats high, Ints index) {
  return select(index << 28, __builtin_ia32_permvarsf256(high, index),
                __builtin_ia32_permvarsf256(low, index));  // the sign of a lane selects
}
#endif
#if defined(__F16C__)
ONNXC_INLINE Floats widen_halves(Halves x) { return __builtin_ia32_vcvtph2ps256(x); }
ONNXC_INLINE Halves narrow_to_halves(Floats x) { return __builtin_ia32_vcvtps2ph256(x, 0); }  // 0: half to even
#endif
template <int kMode>
ONNXC_INLINE Floats round(Floats x) {
  return __builtin_ia32_roundps256(x, kMode);
}
ONNXC_INLINE Ints nearest(Floats x) { return __builtin_ia32_cvtps2dq256(x); }

#endif

}  // namespace onnxc::inline ONNXC_ISA::x86

#if defined(__CUDACC__)
#pragma nv_diagnostic pop
#endif
