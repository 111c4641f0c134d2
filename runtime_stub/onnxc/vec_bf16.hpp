// Products of two bfloat16 in each lane, added to sums of 32 bits, by one instruction (AVX512_BF16): what a step of gemm_bf16 multiplies.
//
//   fma(a, w, sums)    lane i: sums[i] + a[2i] w[2i] + a[2i + 1] w[2i + 1], where a lane of `a` holds two bfloat16
//   pairs_of(x, y)     2 Vec::width floats, rounded half to even, as pairs in order
//
// The instruction takes subnormals for zeros and rounds each of the two sums.
#pragma once
#include <bit>

#include "types.hpp"
#include "vec_integers.hpp"

#if defined(__AVX512BF16__) && defined(__AVX512F__) && !defined(ONNXC_NO_INTRINSICS)
namespace onnxc::inline ONNXC_ISA {

/// Two steps of k of a column.
struct BfloatPair {
  bfloat16 first, second;
};
static_assert(sizeof(BfloatPair) == sizeof(float));

struct VecPairs {
  Vec words;
};
ONNXC_INLINE VecPairs load(const BfloatPair* row, int64_t j) {
  VecPairs pairs;
  __builtin_memcpy(&pairs, row + j, sizeof pairs);
  return pairs;
}
/// Its bits in each lane; as a float it might be a NaN, or a subnormal that becomes zero.
ONNXC_INLINE Vec factor(float pair, VecPairs) { return from_bits(IntVec::all(std::bit_cast<int32_t>(pair))); }
ONNXC_INLINE void pin(VecPairs& x) { pin(x.words); }
ONNXC_INLINE void hold(VecPairs x) { hold(x.words); }

/// In assembler: compilers differ in what their functions take.
ONNXC_INLINE Vec fma(Vec a, VecPairs w, Vec sums) {
  asm("vdpbf16ps %2, %1, %0" : "+v"(sums.lanes) : "v"(a.lanes), "vm"(w.words.lanes));
  return sums;
}
ONNXC_INLINE Vec pairs_of(Vec x, Vec y) {
  Vec pairs;
  asm("vcvtne2ps2bf16 %2, %1, %0" : "=v"(pairs.lanes) : "v"(y.lanes), "vm"(x.lanes));
  return pairs;
}

}  // namespace onnxc::inline ONNXC_ISA
#endif
