// Memory of huge pages (2 MiB), for weights and arenas that are read from end to end in each run: they need fewer walks
// of page tables. It works on Linux where /sys/kernel/mm/transparent_hugepage/enabled says `madvise` or `always`. Few
// file systems give mapped files huge pages (tmpfs does and, for programs, some others), so weights are copied, to
// memory that no other process shares.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "isa.hpp"

namespace onnxc::inline ONNXC_ISA {

/// Zeroed memory, aligned to 2 MiB, for which the system is asked for huge pages. Null where there is no memory or
/// where there are no such pages. It is never given back.
inline std::byte* huge_memory(std::size_t bytes) noexcept {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::size_t kPage = std::size_t{2} << 20;
  if (bytes == 0 || bytes > SIZE_MAX - 2 * kPage) return nullptr;
  const std::size_t whole = (bytes + kPage - 1) / kPage * kPage;
  void* const memory = mmap(nullptr, whole + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* const first = static_cast<std::byte*>(memory);
  const std::size_t before = (kPage - reinterpret_cast<std::uintptr_t>(first) % kPage) % kPage;
  if (before != 0) munmap(first, before);
  if (before != kPage) munmap(first + before + whole, kPage - before);
  if (madvise(first + before, whole, MADV_HUGEPAGE) == 0) return first + before;
  munmap(first + before, whole);
#else
  static_cast<void>(bytes);
#endif
  return nullptr;
}

/// A copy in such memory, or null.
inline const std::byte* copy_to_huge_pages(const std::byte* from, std::size_t bytes) noexcept {
  std::byte* const copy = from != nullptr ? huge_memory(bytes) : nullptr;
  return copy != nullptr ? static_cast<const std::byte*>(std::memcpy(copy, from, bytes)) : nullptr;
}

}  // namespace onnxc
