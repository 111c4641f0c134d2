// Numbers below the smallest normal one. Most processors take a slow way for each (some hundred cycles where an addition takes one), so a run has them
// counted as zeros, operands and results alike, by the processor's mode, and leaves the mode as it found it: --subnormals=flush. x86 and AArch64 have such
// a mode, which covers float and double; elsewhere nothing changes.
#pragma once
#include <cstdint>

#include "isa.hpp"

namespace onnxc::inline ONNXC_ISA {

#if defined(__SSE2__)
/// MXCSR's flush-to-zero (results) and denormals-are-zeros (operands). Not by intrinsics: to g++ these may throw, so that noexcept functions around them would
/// refer to the C++ library's exception handling.
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

/// work(), with subnormal numbers as zeros on this thread meanwhile. What it throws would leave the mode set: a run throws nothing.
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
