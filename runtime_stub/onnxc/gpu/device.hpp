// The vocabulary of GPU kernels: what a kernel may say. Two implementations stand behind it: CUDA (device_cuda.hpp), and
// an emulator on this machine's CPU (emulator/), which runs the same kernel text in tests. The compiler decides: nvcc
// takes CUDA, any other the emulator. A kernel is a struct of its parameters:
//
//   struct Scale {
//     static constexpr int kThreads = 256;             // of a block; a multiple of 32
//     struct Shared { alignas(16) float sums[8]; };    // the block's shared memory; unspecified at first
//     float* y; const float* x; int n;
//     ONNXC_DEVICE void operator()(Shared& shared) const { ... }
//   };
//   if (const Status s = launch(stream, Scale{y, x, n}, {blocks, 1, 1})) return s;
//
//   thread() lane() warp() block() blocks()   where this thread is: blocks have one dimension of threads, grids three of blocks
//   sync_block()                              waits for all threads of the block; what they wrote is seen by all
//   shuffle_xor(v, mask) shuffle(v, lane)     the value of another lane; all lanes of the warp take part
//   ballot(yes)                               a bit for each lane of the warp
//   load(p) store(p, pack)                    16 bytes at once, at a multiple of 16
//   store(p, pair)                            two neighbours at once, at a multiple of their size
//   copy_async(to, from, valid)               16 bytes to shared memory, zeros where not valid. They are there for this thread after
//   commit() wait<N>()                        a wait for all groups but the last N, and for others after sync_block(), too
//   round_tf32(x)                             the nearest number of 11 bits
//   mma<Kind>(c, a, b)                        c[M][N] += a[M] b[N] by the warp, each an m16n8 product of 8 words of k
//   fetch_add(p, v)                           draws a ticket: what the block wrote must lie behind a fence()
//   add(p, v) fetch_max(p, v)                 integers that blocks count or compare, in no order
//   fence()                                   what was written before it is seen by who sees what is written after it
//   reduce_warp(v, combine) reduce_block<kThreads>(v, identity, partial, combine)
//
// The order of blocks and threads is unspecified. Results must not depend on it, so floats are never added by atomics.
//
// Functions that call `launch` are static, launch itself included: of two units in a program, compiled for different GPUs,
// each must start its own kernels, and the linker would share what is inline.
#pragma once
#include "kernel.hpp"
#if defined(__CUDACC__)
#include "device_cuda.hpp"
#include "host_cuda.hpp"
#else
#include "emulator/memory.hpp"
#include "emulator/mma.hpp"
#include "emulator/settings.hpp"
#include "emulator/stream.hpp"
#include "emulator/warp.hpp"
#include "emulator/words.hpp"
#endif

namespace onnxc::inline ONNXC_ISA::gpu {

/// What a unit tells of itself.
#if defined(__CUDACC__)
inline constexpr int32_t kDevice = ONNXC_CUDA;
#else
inline constexpr int32_t kDevice = ONNXC_CUDA_EMULATED;
#endif

/// Blocks that a grid has at most where blocks go on with what is left once they are done.
#if defined(__CUDACC__)
constexpr int64_t most_blocks() noexcept { return 65536; }
#else
inline int64_t most_blocks() noexcept { return emulator::settings().most_blocks; }
#endif

/// The combination of v over all lanes, in every lane, in an order that does not depend on time.
template <class T, class Combine>
ONNXC_DEVICE T reduce_warp(T v, Combine combine ONNXC_CALLER) {
  ONNXC_UNROLL_DEVICE
  for (int mask = 16; mask > 0; mask /= 2) v = combine(v, shuffle_xor(v, mask ONNXC_SAME_CALLER));
  return v;
}

/// The same over all threads of the block; `partial` has room for a value of each warp.
template <int kThreads, class T, class Combine>
ONNXC_DEVICE T reduce_block(T v, T identity, T* partial, Combine combine ONNXC_CALLER) {
  v = reduce_warp(v, combine ONNXC_SAME_CALLER);
  ONNXC_SYNC_BLOCK;  // `partial` may still be read
  if (lane() == 0) partial[warp()] = v;
  ONNXC_SYNC_BLOCK;
  return reduce_warp(lane() < kThreads / 32 ? partial[lane()] : identity, combine ONNXC_SAME_CALLER);
}

/// Makes a GPU the calling thread's own for a while.
class DeviceInUse {
 public:
  explicit DeviceInUse(int ordinal) noexcept : status_(current_device(before_)) {
    if (status_ || ordinal == before_) return;
    status_ = use_device(ordinal);
    changed_ = !status_;
  }
  DeviceInUse(const DeviceInUse&) = delete;
  DeviceInUse& operator=(const DeviceInUse&) = delete;
  ~DeviceInUse() {
    if (changed_) (void)use_device(before_);
  }
  Status status() const noexcept { return status_; }

 private:
  int before_ = -1;
  Status status_;
  bool changed_ = false;
};

}  // namespace onnxc::gpu
