// Memory for what a run allocates, up to a limit.
#pragma once
#include <onnxc/model.h>

#include <cstddef>
#include <new>

namespace onnxc::serving {

/// The allocator of one run, for `bytes` of blocks at once. What is out at the end goes with this object.
class BoundedMemory {
 public:
  BoundedMemory() = default;
  BoundedMemory(const BoundedMemory&) = delete;
  BoundedMemory& operator=(const BoundedMemory&) = delete;
  ~BoundedMemory() {
    while (first_ != nullptr) {
      Header* const block = first_;
      first_ = block->next;
      ::operator delete(block, std::align_val_t(alignof(Header)));
    }
  }

  void limit(std::size_t bytes) { left_ = bytes; }
  /// Whether a block was refused for the limit.
  bool is_exhausted() const { return is_exhausted_; }
  const onnxc_allocator& allocator() const { return allocator_; }

 private:
  struct alignas(64) Header {
    Header *next, *previous;
    std::size_t bytes;
  };

  static void* allocate(void* self, std::size_t bytes) {
    auto& memory = *static_cast<BoundedMemory*>(self);
    if (bytes > memory.left_) {
      memory.is_exhausted_ = true;
      return nullptr;
    }
    void* const block = ::operator new(sizeof(Header) + bytes, std::align_val_t(alignof(Header)), std::nothrow);
    if (block == nullptr) return nullptr;
    memory.left_ -= bytes;
    auto* const header = new (block) Header{memory.first_, nullptr, bytes};
    if (header->next != nullptr) header->next->previous = header;
    memory.first_ = header;
    return header + 1;
  }
  static void release(void* self, void* block) {
    auto& memory = *static_cast<BoundedMemory*>(self);
    Header* const header = static_cast<Header*>(block) - 1;
    (header->previous != nullptr ? header->previous->next : memory.first_) = header->next;
    if (header->next != nullptr) header->next->previous = header->previous;
    memory.left_ += header->bytes;
    ::operator delete(header, std::align_val_t(alignof(Header)));
  }

  Header* first_ = nullptr;
  std::size_t left_ = 0;
  bool is_exhausted_ = false;
  onnxc_allocator allocator_{this, allocate, release};
};

}  // namespace onnxc::serving
