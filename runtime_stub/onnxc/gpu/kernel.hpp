// What the vocabulary of device.hpp is made of, and both of its implementations know: places in a grid, element types of
// matrix products, packs of 16 bytes, what a kernel must be, and what is told of a GPU.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "../base.hpp"
#include "interface.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {

/// Of a block in a grid, or how many of them there are.
struct Index {
  int x = 0, y = 0, z = 0;
};

/// Element types of matrix products. A word of 32 bits holds 1, 2 or 4 of them, the first in its lowest bits. Products
/// are exact. Sums are f32, cut rather than rounded, or s32 of integers, modulo 2^32.
struct Tf32 {
  static constexpr int kValues = 1;
  using Sum = float;
};
struct F16 {
  static constexpr int kValues = 2;
  using Sum = float;
};
struct Bf16 {
  static constexpr int kValues = 2;
  using Sum = float;
};
/// Bytes, with or without a sign on either side.
template <bool kLeft, bool kRight>
struct Bytes {
  static constexpr int kValues = 4;
  static constexpr bool kLeftSigned = kLeft, kRightSigned = kRight;
  using Sum = int32_t;
};
using S8 = Bytes<true, true>;
using U8 = Bytes<false, false>;
using U8S8 = Bytes<false, true>;
using S8U8 = Bytes<true, false>;

/// What one load or store moves at once.
template <class T>
struct alignas(16) Pack {
  static_assert(16 % sizeof(T) == 0);
  T at[16 / sizeof(T)];
};

/// Two neighbours, which one store moves.
template <class T>
struct alignas(2 * sizeof(T)) Pair {
  T at[2];
};

/// So many bytes of elements of any type, which one load or store moves.
template <int kBytes>
struct alignas(kBytes) Moved {
  std::byte at[kBytes];
};

/// What every GPU that is meant can run. Parameters are passed by their bytes.
template <class Kernel>
inline constexpr bool kIsKernel = Kernel::kThreads > 0 && Kernel::kThreads % 32 == 0 && Kernel::kThreads <= 1024 &&
                                  sizeof(Kernel) <= 4096 && sizeof(typename Kernel::Shared) <= 227 * 1024 &&
                                  alignof(typename Kernel::Shared) <= 128 && std::is_trivially_copyable_v<Kernel>;

/// A GPU, as its driver describes it.
struct DeviceProperties {
  char name[256] = {};
  int major = 0, minor = 0;  ///< its compute capability
  int multiprocessors = 0;
  std::size_t memory_bytes = 0, free_bytes = 0;
};

}  // namespace onnxc::gpu
