// Prefetching of constants by register tiles (tile.hpp).
#pragma once
#include "base.hpp"

namespace onnxc::inline ONNXC_ISA {

#if ONNXC_MICRO

/// There is nothing to prefetch into.
class Prefetcher {
 public:
  ONNXC_INLINE explicit Prefetcher(const void*) {}
  ONNXC_INLINE Prefetcher(const void*, const void*, std::uintptr_t = 0) {}
  ONNXC_INLINE void move(const void*, int64_t, int64_t) {}
  ONNXC_INLINE void advance(int64_t) {}
  ONNXC_INLINE void fetch(int64_t = 0) const {}
  ONNXC_INLINE void pass(int64_t = 1) {}
};

#else

/// Prefetches constants ahead of those in use, at most a cache line for each step of k. Constants lie in the order of
/// use, those of the next step behind those of this one. Nothing is prefetched from beyond the last of them: a prefetch
/// of memory that is not mapped waits for a walk of the page tables each time.
class Prefetcher {
 public:
  static constexpr std::uintptr_t kFarthest = 128 << 10;  // bytes: fits a part of any L2
  std::uintptr_t at = 0, stride = 0;                      // the next address, and bytes for each step of k

  /// Prefetches nothing but what is in use anyway.
  ONNXC_INLINE explicit Prefetcher(const void* in_use) : at(reinterpret_cast<std::uintptr_t>(in_use)) {}
  /// For constants that end at `own_end`, or at `end` where that is not null. reach: how far ahead of those in use, in bytes.
  ONNXC_INLINE Prefetcher(const void* own_end, const void* end, std::uintptr_t reach = kFarthest)
      : end_(reinterpret_cast<std::uintptr_t>(end != nullptr ? end : own_end)), reach_(reach) {}

  /// The constants from `used_until` on come next; tiles of `steps` steps each prefetch them. `bytes`: how many of them
  /// each step of k must prefetch so that all arrive in time. The pace is just above that, because loads from L2 wait
  /// behind the loads from memory.
  ONNXC_INLINE void move(const void* used_until, int64_t steps, int64_t bytes) {
    const auto from = reinterpret_cast<std::uintptr_t>(used_until);
    if (next_ < from || next_ >= from + reach_) next_ = from;
    farthest_ = from + reach_ < end_ ? from + reach_ : end_;
    in_use_ = from - 64;
    pace_ = bytes < 28 ? 32 : bytes < 60 ? static_cast<std::uintptr_t>(bytes) + 4 : 64;
    aim(steps);
  }
  /// A tile of `steps` steps is done, and one as long comes next.
  ONNXC_INLINE void advance(int64_t steps) {
    next_ += static_cast<std::uintptr_t>(steps) * stride;
    aim(steps);
  }

  /// Prefetches for the step of k that comes `later` steps from now.
  ONNXC_INLINE void fetch(int64_t later = 0) const {
    __builtin_prefetch(reinterpret_cast<const void*>(at + static_cast<std::uintptr_t>(later) * stride), 0, 2);
  }
  /// `steps` steps are done.
  ONNXC_INLINE void pass(int64_t steps = 1) { at += static_cast<std::uintptr_t>(steps) * stride; }

 private:
  ONNXC_INLINE void aim(int64_t steps) {
    const bool wanted = next_ + static_cast<std::uintptr_t>(steps) * pace_ <= farthest_;
    at = wanted ? next_ : in_use_;
    stride = wanted ? pace_ : 0;
  }

  std::uintptr_t next_ = 0, farthest_ = 0, end_ = 0, in_use_ = 0, pace_ = 0, reach_ = kFarthest;
};

#endif

}  // namespace onnxc::inline ONNXC_ISA
