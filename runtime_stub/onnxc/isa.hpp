// The instruction set in force, as the name of an inline namespace.
//
// Kernels are templates and inline functions, so the linker keeps one copy of each name in a program. Units compiled
// with different -march must not share them: the copy that is kept may use instructions that the other unit's machine
// lacks, or vectors of another width than its weights are packed for. So everything whose code depends on compiler
// flags lives in `namespace onnxc::inline ONNXC_ISA`; to the linker, onnxc::gemm is onnxc::avx512_vnni::gemm. What a
// unit's interface shows (Status, float16, the C ABI) is outside of it and the same for all.
//
// ONNXC_NO_INTRINSICS  no intrinsics: vectors are the compiler's own
// ONNXC_VECTOR_FLOATS  the width of these, whatever the machine has: 1, 4, 8 or 16. Only without intrinsics.
// ONNXC_REPRODUCIBLE   results are the same bits on every machine: no multiply-add is fused, and sums run in one order, whatever the width of
//                      vectors. Only without intrinsics, and not with -ffast-math. The unit forbids contractions by a pragma.
// ONNXC_ALLOW_FAST_MATH  -ffast-math is meant: NaN, infinities, the signs of zeros and the order of sums do not matter
#pragma once

#if defined(__OPTIMIZE__)
#define ONNXC_INLINE_LAMBDA __attribute__((always_inline))
#else
#define ONNXC_INLINE_LAMBDA  // without optimisation, inlining gains nothing and is most of what a compiler does
#endif
#define ONNXC_INLINE inline ONNXC_INLINE_LAMBDA

// For functions of both sides of a GPU: ONNXC_INLINE is for the host alone, since vectors are errors in device code.
#if defined(__CUDACC__)
#define ONNXC_BOTH     __host__ __device__ __forceinline__
#define ONNXC_ANYWHERE __host__ __device__
#else
#define ONNXC_BOTH ONNXC_INLINE
#define ONNXC_ANYWHERE
#endif

// A large kernel that gains nothing from the constants of its calls. g++ would clone it for each call or, where all calls agree in some
// arguments, propagate these, which changes its register allocation: it may then keep an accumulator on the stack.
#if defined(__GNUC__) && !defined(__clang__)
#define ONNXC_NOCLONE __attribute__((noipa))
#else
#define ONNXC_NOCLONE
#endif

#if defined(ONNXC_VECTOR_FLOATS) && !defined(ONNXC_NO_INTRINSICS)
#error "ONNXC_VECTOR_FLOATS needs ONNXC_NO_INTRINSICS: with intrinsics the width is the machine's"
#endif
#if defined(ONNXC_REPRODUCIBLE) && !defined(ONNXC_NO_INTRINSICS)
#error "ONNXC_REPRODUCIBLE needs ONNXC_NO_INTRINSICS"
#endif
// ONNXC_FAST_MATH: the compiler has leave for -ffast-math or a part of it, as far as it says so: Clang is silent on all parts but finite numbers.
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || defined(__NO_SIGNED_ZEROS__) || \
    (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#define ONNXC_FAST_MATH 1
#if defined(ONNXC_REPRODUCIBLE)
#error "--math=reproducible: results depend on the machine with -ffast-math, -Ofast or a part of these: leave it out"
#elif !defined(ONNXC_ALLOW_FAST_MATH)
#error \
    "-ffast-math, -Ofast and parts of these take NaN, infinities and the order of sums from this unit: leave it out, or allow it with -DONNXC_ALLOW_FAST_MATH"
#endif
#endif

#if defined(ONNXC_VECTOR_FLOATS)
#elif defined(__AVX512F__)
#define ONNXC_VECTOR_FLOATS 16
#elif defined(__AVX__)
#define ONNXC_VECTOR_FLOATS 8
#elif (defined(__arm__) && !defined(__ARM_NEON) && !(__ARM_FEATURE_MVE & 2)) || (defined(__riscv) && __riscv_xlen == 32)
#define ONNXC_VECTOR_FLOATS 1  // cores without vectors of floats: 2 of ARM's bits is Helium's floats
#else
#define ONNXC_VECTOR_FLOATS 4
#endif

// ONNXC_MICRO: a core of a microcontroller, or what runs as if on one. Code and stacks are to be small, and no cache is there to
// prefetch into. ONNXC_SOFT_DOUBLES: doubles are computed by a library.
#if ONNXC_VECTOR_FLOATS == 1 || defined(__ARM_FEATURE_MVE)
#define ONNXC_MICRO 1
#else
#define ONNXC_MICRO 0
#endif
// ONNXC_LEAST_CODE: nothing is unrolled that the compiler would not unroll.
#if defined(__OPTIMIZE_SIZE__)
#define ONNXC_LEAST_CODE 1
#else
#define ONNXC_LEAST_CODE 0
#endif
#if (defined(__arm__) && !(__ARM_FP & 8)) || (defined(__riscv) && !(__riscv_flen >= 64))
#define ONNXC_SOFT_DOUBLES 1
#endif

// A function into which everything that it calls is inlined, with the extents that it passes as constants: for kernels
// that would spend much of a short row on decisions.
#if ONNXC_MICRO || defined(__OPTIMIZE_SIZE__) || !defined(__OPTIMIZE__)
#define ONNXC_SPECIALISED
#else
#define ONNXC_SPECIALISED __attribute__((noinline, flatten))
#endif

// The number of registers that hold a vector; with vectors of one float, of those that hold a float. ONNXC_OUTLINE: a part of a kernel that
// is outlined, to a function of its own, where registers are few, since a compiler would keep some of its sums on the stack amid the rest.
#if defined(__AVX512F__) || defined(__aarch64__)
#define ONNXC_VECTOR_REGISTERS 32
#elif defined(__ARM_FEATURE_MVE) || __ARM_ARCH_ISA_THUMB == 1
#define ONNXC_VECTOR_REGISTERS 8
#elif ONNXC_VECTOR_FLOATS == 1 && (defined(__ARM_FP) || defined(__riscv_flen))
#define ONNXC_VECTOR_REGISTERS 32
#elif ONNXC_VECTOR_FLOATS == 1 && defined(__riscv)
#define ONNXC_VECTOR_REGISTERS 24
#elif ONNXC_VECTOR_FLOATS == 1 && defined(__arm__)
#define ONNXC_VECTOR_REGISTERS 12
#else
#define ONNXC_VECTOR_REGISTERS 16
#endif
#if ONNXC_VECTOR_REGISTERS == 32
#define ONNXC_OUTLINE ONNXC_INLINE
#else
#define ONNXC_OUTLINE ONNXC_NOCLONE
#endif

// One token for each group of instructions, the empty token where it is off.
#if defined(__AVX512F__) && defined(__AVX512VNNI__) && defined(__AVX512BF16__)
#define ONNXC_ISA_BASE avx512_bf16
#elif defined(__AVX512F__) && defined(__AVX512VNNI__)
#define ONNXC_ISA_BASE avx512_vnni
#elif defined(__AVX512F__)
#define ONNXC_ISA_BASE avx512
#elif defined(__AVX2__)
#define ONNXC_ISA_BASE avx2
#elif defined(__AVX__)
#define ONNXC_ISA_BASE avx
#elif defined(__SSE4_1__)
#define ONNXC_ISA_BASE sse4
#elif defined(__aarch64__) && defined(__ARM_FEATURE_MATMUL_INT8)
#define ONNXC_ISA_BASE neon_i8mm
#elif defined(__aarch64__) && defined(__ARM_FEATURE_DOTPROD)
#define ONNXC_ISA_BASE neon_dotprod
#elif defined(__aarch64__)
#define ONNXC_ISA_BASE neon
#elif defined(__ARM_FEATURE_MVE)
#define ONNXC_ISA_BASE helium
#elif defined(__ARM_FEATURE_DSP) && !defined(__ARM_NEON)
#define ONNXC_ISA_BASE thumb_dsp
#elif __ARM_ARCH_ISA_THUMB == 1
#define ONNXC_ISA_BASE thumb1
#elif defined(__riscv_flen)
#define ONNXC_ISA_BASE riscv_floats
#else
#define ONNXC_ISA_BASE base
#endif
#if defined(__FMA__) || (defined(__ARM_FEATURE_FMA) && !defined(__aarch64__))
#define ONNXC_ISA_FMA _fma
#else
#define ONNXC_ISA_FMA
#endif
#if defined(__F16C__)
#define ONNXC_ISA_MORE _f16c
#elif defined(__ARM_FEATURE_SVE)
#define ONNXC_ISA_MORE _sve
#else
#define ONNXC_ISA_MORE
#endif
#if defined(ONNXC_NO_INTRINSICS)
#define ONNXC_ISA_VECTORS _generic
#else
#define ONNXC_ISA_VECTORS _x
#endif
#if defined(ONNXC_FAST_MATH)
#define ONNXC_ISA_MATH _fast
#elif defined(ONNXC_REPRODUCIBLE)
#define ONNXC_ISA_MATH _reproducible
#else
#define ONNXC_ISA_MATH
#endif
#define ONNXC_ISA_JOIN_AGAIN(base, fma, more, vectors, width, math) base##fma##more##vectors##width##math
#define ONNXC_ISA_JOIN(base, fma, more, vectors, width, math)       ONNXC_ISA_JOIN_AGAIN(base, fma, more, vectors, width, math)
#define ONNXC_ISA                                                   ONNXC_ISA_JOIN(ONNXC_ISA_BASE, ONNXC_ISA_FMA, ONNXC_ISA_MORE, ONNXC_ISA_VECTORS, ONNXC_VECTOR_FLOATS, ONNXC_ISA_MATH)

namespace onnxc::inline ONNXC_ISA {
/// Vec::width, known without including the vectors: what weights must be packed for.
inline constexpr int kVectorFloats = ONNXC_VECTOR_FLOATS;
#if defined(ONNXC_REPRODUCIBLE)
inline constexpr bool kReproducible = true;
#else
inline constexpr bool kReproducible = false;
#endif
}
