// Memory of the emulated GPU. What lies in it at first are NaNs, and a page that cannot be touched lies before and behind
// each allocation:
//
//   | bytes | cannot be touched | unused, then the allocation, up to 15 bytes of 0xFF | cannot be touched |
//                                             ↑ a multiple of 16; of 256 where its size is one
//
// Then its devices, which are as many as the settings say.
#pragma once
#if !defined(__CUDACC__)
#include <atomic>

#include "scheduler.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {
namespace emulator {

inline std::atomic<std::size_t>& bytes_in_use() {
  static std::atomic<std::size_t> all{0};
  return all;
}
inline Status refused(const char* what) { return {ONNXC_DEVICE_FAILED, what}; }
/// Whether there is a GPU that takes work.
inline Status ready() {
  if (settings().devices == 0) return refused("no GPU is emulated");
  return settings().failed != nullptr ? refused(settings().failed) : Status{};
}

constexpr std::size_t rounded(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }
/// Where what belongs to an allocation is noted.
inline std::byte* begin_of(void* p) {
  const auto at = reinterpret_cast<std::uintptr_t>(p);
  return static_cast<std::byte*>(p) - at % page_bytes() - 2 * page_bytes();
}

}  // namespace emulator

inline Status allocate(void*& p, std::size_t bytes) noexcept {
  using namespace emulator;
  p = nullptr;
  if (const Status s = ready()) return s;
  const Status none{ONNXC_OUT_OF_MEMORY, "memory of the emulated GPU"};
  if (bytes > SIZE_MAX / 2) return none;
  if (bytes_in_use().fetch_add(bytes) + bytes > settings().memory_bytes) {
    bytes_in_use().fetch_sub(bytes);
    return none;
  }
  const std::size_t pages = rounded(bytes, page_bytes());
  std::byte* const begin = map_memory(pages + 3 * page_bytes());
  if (begin == nullptr) {
    bytes_in_use().fetch_sub(bytes);
    return none;
  }
  std::memcpy(begin, &bytes, sizeof(bytes));
  std::byte* const first = begin + 2 * page_bytes();
  mprotect(first - page_bytes(), page_bytes(), PROT_NONE);
  mprotect(first + pages, page_bytes(), PROT_NONE);
  std::memset(first, 0xFF, pages);
  p = first + (pages - rounded(bytes, 16));
  return {};
}

inline void release(void* p) noexcept {
  using namespace emulator;
  if (p == nullptr) return;
  std::byte* const begin = begin_of(p);
  std::size_t bytes = 0;
  std::memcpy(&bytes, begin, sizeof(bytes));
  for (std::size_t i = bytes; i < rounded(bytes, 16); ++i) {
    if (static_cast<const std::byte*>(p)[i] != std::byte{0xFF})
      fail("a store beyond an allocation, which was released now", {"the emulator", 0});
  }
  munmap(begin, rounded(bytes, page_bytes()) + 3 * page_bytes());
  bytes_in_use().fetch_sub(bytes);
}

inline Status allocate_pinned(void*& p, std::size_t bytes) noexcept {
  p = ::operator new(bytes, std::align_val_t{emulator::page_bytes()}, std::nothrow);
  return p != nullptr ? Status{} : Status{ONNXC_OUT_OF_MEMORY, "memory of the host"};
}
inline void release_pinned(void* p) noexcept { ::operator delete(p, std::align_val_t{emulator::page_bytes()}); }

inline Status count_devices(int& count) noexcept {
  count = emulator::settings().devices;
  return count > 0 ? Status{} : emulator::refused("no GPU is emulated");
}
namespace emulator {
inline constinit thread_local int device_in_use = 0;
}
inline Status use_device(int ordinal) noexcept {
  int count = 0;
  if (const Status s = count_devices(count)) return s;
  if (ordinal < 0 || ordinal >= count) return emulator::refused("no such GPU is emulated");
  emulator::device_in_use = ordinal;
  return {};
}
inline Status current_device(int& ordinal) noexcept {
  int count = 0;
  const Status s = count_devices(count);
  if (!s) ordinal = emulator::device_in_use;
  return s;
}
inline Status describe_device(DeviceProperties& to) noexcept {
  int ordinal = 0;
  if (const Status s = current_device(ordinal)) return s;
  to = {"onnxc's emulator", 9, 0, 1, emulator::settings().memory_bytes, 0};
  to.free_bytes = to.memory_bytes - emulator::bytes_in_use();
  return {};
}

}  // namespace onnxc::gpu
#endif
