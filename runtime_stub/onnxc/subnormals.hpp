// Numbers below the smallest normal one. Most processors handle each of them on a slow path that takes some hundred
// times as long as an addition. So with --subnormals=flush a run sets the processor's mode in which they count as
// zeros, operands and results alike, and leaves the mode as it found it. x86 and AArch64 have such a mode, which covers
// float and double; elsewhere nothing changes.
#pragma once
#include <cstdint>

#include "isa.hpp"

namespace onnxc::inline ONNXC_ISA {

#if defined(__SSE2__)
/// MXCSR's flush-to-zero (results) and denormals-are-zeros (operands). Intrinsics are avoided because g++ believes that
/// they may throw, so that noexcept functions around them would refer to the C++ library's exception handling.
inline constexpr uint32_t kFlushBits = 0x8040;
ONNXC_INLINE uint32_t control_register() noexcept {
  uint32_t value = 0;
  __asm__ volatile("stmxcsr %0" : "=m"(value));
  return value;
}
ONNXC_INLINE uint32_t flush_bits() noexcept { return control_register() & kFlushBits; }
ONNXC_INLINE void set_flush_bits(uint32_t set) noexcept {
  const uint32_t value = (control_register() & ~kFlushBits) | set;
  __asm__ volatile("ldmxcsr %0" : : "m"(value) : "memory");
}
#elif defined(__aarch64__)
/// FPCR's FZ.
inline constexpr uint64_t kFlushBits = uint64_t{1} << 24;
ONNXC_INLINE uint64_t control_register() noexcept {
  uint64_t value = 0;
  __asm__ volatile("mrs %0, fpcr" : "=r"(value));
  return value;
}
ONNXC_INLINE uint64_t flush_bits() noexcept { return control_register() & kFlushBits; }
ONNXC_INLINE void set_flush_bits(uint64_t set) noexcept {
  __asm__ volatile("msr fpcr, %0" : : "r"((control_register() & ~kFlushBits) | set) : "memory");
}
#else
inline constexpr uint32_t kFlushBits = 0;
ONNXC_INLINE uint32_t flush_bits() noexcept { return 0; }
ONNXC_INLINE void set_flush_bits(uint32_t) noexcept {}
#endif

/// Runs work() with subnormal numbers as zeros on this thread. An exception would leave the mode set, but a run throws
/// none.
template <class Work>
ONNXC_INLINE auto flushing_subnormals(Work&& work) noexcept(noexcept(work())) {
  const auto before = flush_bits();
  if (before == kFlushBits) return work();
  set_flush_bits(kFlushBits);
  const auto result = work();
  set_flush_bits(before);
  return result;
}

}  // namespace onnxc::inline ONNXC_ISA
