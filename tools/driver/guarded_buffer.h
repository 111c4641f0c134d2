// Memory that a unit is given for a run, such that it is noticed where the unit goes beyond it.
//
// A pattern lies behind a block, which shows what was written there. For the address sanitizer and for memcheck (ONNXC_MEMCHECK) nobody may
// touch the pattern, so that they report reads beyond the block as well, to the byte; under memcheck blocks hold nothing that may be read.
#pragma once
#include <onnxc/memory.hpp>

#include <cstddef>
#include <memory>
#include <set>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ONNXC_WATCHED_MEMORY 1
#endif
#endif
#if !defined(ONNXC_WATCHED_MEMORY) && (defined(__SANITIZE_ADDRESS__) || defined(ONNXC_MEMCHECK))
#define ONNXC_WATCHED_MEMORY 1
#endif

namespace onnxc {

/// A block for an input, an output or the arena. Throws Error{Budget} where memory is short.
class GuardedBuffer {
 public:
  /// `fill` is its content at first, which under memcheck may only be overwritten.
  GuardedBuffer(std::size_t bytes, std::size_t alignment, std::byte fill);
  std::byte* data() const { return data_.get(); }
  std::size_t size() const { return bytes_; }
  /// Whether what lies behind the block is as it was.
  bool is_intact() const;

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  std::size_t bytes_;
  std::unique_ptr<std::byte[], Free> data_;
};

#if defined(ONNXC_WATCHED_MEMORY)
/// An allocator for what runs take, in place of onnxc::Memory, whose blocks have room behind them.
class RunMemory {
 public:
  RunMemory() = default;
  RunMemory(const RunMemory&) = delete;
  RunMemory& operator=(const RunMemory&) = delete;
  ~RunMemory() { clear(); }
  void clear();
  const onnxc_allocator& allocator() const { return allocator_; }

 private:
  static void* allocate(void* self, std::size_t bytes);
  static void release(void* self, void* block);
  std::set<void*> blocks_;
  onnxc_allocator allocator_{this, allocate, release};
};
#else
using RunMemory = Memory;
#endif

}  // namespace onnxc
