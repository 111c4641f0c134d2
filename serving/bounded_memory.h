// Memory for what a run allocates, up to a limit.
#pragma once
#include <onnxc/model.h>
#include <onnxc/memory.hpp>

#include <cstddef>
#include <new>

namespace onnxc::serving {

/// The allocator of one run, for so many bytes of blocks at once. What is out at the end goes with this object.
class BoundedMemory {
 public:
  BoundedMemory() = default;
  BoundedMemory(const BoundedMemory&) = delete;
  BoundedMemory& operator=(const BoundedMemory&) = delete;

  void limit(std::size_t bytes) { left_ = bytes; }
  /// Whether a block was refused for the limit.
  bool is_exhausted() const { return is_exhausted_; }
  const onnxc_allocator& allocator() const { return allocator_; }

 private:
  /// Lies in front of each block, which stays aligned.
  struct alignas(64) Size {
    std::size_t bytes;
  };

  static void* allocate(void* self, std::size_t bytes) {
    auto& memory = *static_cast<BoundedMemory*>(self);
    if (bytes > memory.left_ || bytes > SIZE_MAX - sizeof(Size)) {
      memory.is_exhausted_ = true;
      return nullptr;
    }
    const onnxc_allocator& blocks = memory.blocks_.allocator();
    void* const block = blocks.allocate(blocks.self, sizeof(Size) + bytes);
    if (block == nullptr) return nullptr;
    memory.left_ -= bytes;
    return new (block) Size{bytes} + 1;
  }
  static void release(void* self, void* block) {
    auto& memory = *static_cast<BoundedMemory*>(self);
    Size* const size = static_cast<Size*>(block) - 1;
    memory.left_ += size->bytes;
    const onnxc_allocator& blocks = memory.blocks_.allocator();
    blocks.release(blocks.self, size);
  }

  Memory blocks_;
  std::size_t left_ = 0;
  bool is_exhausted_ = false;
  onnxc_allocator allocator_{this, allocate, release};
};

}  // namespace onnxc::serving
