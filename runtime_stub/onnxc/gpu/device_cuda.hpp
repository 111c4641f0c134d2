// The vocabulary of device.hpp in CUDA, for compute capability 8.0 and later: all the PTX that there is.
#pragma once
#include "kernel.hpp"

#if defined(__CUDACC__)
#include <cuda_runtime.h>

#define ONNXC_DEVICE        __device__ __forceinline__
#define ONNXC_LAMBDA        __device__
#define ONNXC_UNROLL_DEVICE _Pragma("unroll")
#define ONNXC_KEEP_LOOP     _Pragma("unroll 1")
// Where a word was said, which only the emulator asks.
#define ONNXC_CALLER
#define ONNXC_SAME_CALLER
#define ONNXC_SYNC_BLOCK sync_block()

namespace onnxc::inline ONNXC_ISA::gpu {

ONNXC_DEVICE int thread() { return static_cast<int>(threadIdx.x); }
ONNXC_DEVICE int lane() { return static_cast<int>(threadIdx.x & 31u); }
ONNXC_DEVICE int warp() { return static_cast<int>(threadIdx.x >> 5u); }
ONNXC_DEVICE Index block() { return {static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y), static_cast<int>(blockIdx.z)}; }
ONNXC_DEVICE Index blocks() { return {static_cast<int>(gridDim.x), static_cast<int>(gridDim.y), static_cast<int>(gridDim.z)}; }
ONNXC_DEVICE void sync_block() { __syncthreads(); }

template <class T>
ONNXC_DEVICE T shuffle_xor(T v, int mask) {
  return __shfl_xor_sync(0xffffffffu, v, mask);
}
template <class T>
ONNXC_DEVICE T shuffle(T v, int lane) {
  return __shfl_sync(0xffffffffu, v, lane);
}
ONNXC_DEVICE unsigned ballot(bool yes) { return __ballot_sync(0xffffffffu, yes); }

ONNXC_DEVICE unsigned fetch_add(unsigned* p, unsigned v) { return atomicAdd(p, v); }
ONNXC_DEVICE void add(unsigned* p, unsigned v) { atomicAdd(p, v); }
ONNXC_DEVICE void fetch_max(unsigned* p, unsigned v) { atomicMax(p, v); }
ONNXC_DEVICE void fence() { __threadfence(); }

template <class T>
ONNXC_DEVICE Pack<T> load(const T* p) {
  return *reinterpret_cast<const Pack<T>*>(p);
}
template <class T>
ONNXC_DEVICE void store(T* p, const Pack<T>& v) {
  *reinterpret_cast<Pack<T>*>(p) = v;
}

template <class T>
ONNXC_DEVICE void store(T* p, const Pair<T>& v) {
  *reinterpret_cast<Pair<T>*>(p) = v;
}

/// `from` is not read where not `valid`, but must be a multiple of 16 all the same.
ONNXC_DEVICE void copy_async(void* to, const void* from, bool valid) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(valid ? 16 : 0) : "memory");
}
ONNXC_DEVICE void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// All groups but the last N are there.
template <int N>
ONNXC_DEVICE void wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

/// To nearest, ties away from zero.
ONNXC_DEVICE float round_tf32(float x) {
  uint32_t bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return __uint_as_float(bits);
}

namespace detail {

#define ONNXC_MMA(Kind, constraint, instruction)                                                    \
  ONNXC_DEVICE void mma_one(Kind, Kind::Sum(&c)[4], const uint32_t(&a)[4], const uint32_t(&b)[2]) { \
    asm("mma.sync.aligned." instruction " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"    \
        : "+" constraint(c[0]), "+" constraint(c[1]), "+" constraint(c[2]), "+" constraint(c[3])    \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                        \
  }
ONNXC_MMA(Tf32, "f", "m16n8k8.row.col.f32.tf32.tf32.f32")
ONNXC_MMA(F16, "f", "m16n8k16.row.col.f32.f16.f16.f32")
ONNXC_MMA(Bf16, "f", "m16n8k16.row.col.f32.bf16.bf16.f32")
ONNXC_MMA(S8, "r", "m16n8k32.row.col.s32.s8.s8.s32")
ONNXC_MMA(U8, "r", "m16n8k32.row.col.s32.u8.u8.s32")
ONNXC_MMA(U8S8, "r", "m16n8k32.row.col.s32.u8.s8.s32")
ONNXC_MMA(S8U8, "r", "m16n8k32.row.col.s32.s8.u8.s32")
#undef ONNXC_MMA

}  // namespace detail

/// Lane 4g + t has words t and t + 4 of rows g and g + 8 of a (a[0]: g, t; a[1]: g + 8, t; a[2]: g, t + 4; a[3]), words t
/// and t + 4 of column g of b, and columns 2t and 2t + 1 of rows g (c[0], c[1]) and g + 8 of c.
template <class Kind, int M, int N>
ONNXC_DEVICE void mma(typename Kind::Sum (&c)[M][N][4], const uint32_t (&a)[M][4], const uint32_t (&b)[N][2]) {
  ONNXC_UNROLL_DEVICE
  for (int i = 0; i < M; ++i) {
    ONNXC_UNROLL_DEVICE
    for (int j = 0; j < N; ++j) detail::mma_one(Kind{}, c[i][j], a[i], b[j]);
  }
}

}  // namespace onnxc::gpu
#endif
