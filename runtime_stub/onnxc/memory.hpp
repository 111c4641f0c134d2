// An allocator for programs on hosts: keeps track of what runs take, and frees all of it at once.
//
//   onnxc::Memory memory;
//   if (auto status = tagger::run(in, out, arena, memory)) ...
//   use(out.words);
//   memory.clear();  // before the next run, when its results are no longer needed
#pragma once
#include <cstdint>
#include <new>
#include <utility>

#include "model.h"

namespace onnxc {

class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { clear(); }

  /// Frees all blocks.
  void clear() noexcept {
    for (Header* header = std::exchange(first_, nullptr); header != nullptr;) give_back(std::exchange(header, header->next));
  }
  const onnxc_allocator& allocator() const noexcept { return allocator_; }
  operator const onnxc_allocator&() const noexcept { return allocator_; }  // NOLINT: that is what it is for

 private:
  /// Lies in front of each block. The headers form a list of all blocks.
  struct alignas(64) Header {
    Header *next, *previous;
  };

  static void* allocate(void* self, std::size_t bytes) {
    auto& memory = *static_cast<Memory*>(self);
    if (bytes > SIZE_MAX - 2 * sizeof(Header)) return nullptr;
    void* const block = ::operator new(sizeof(Header) + bytes, std::align_val_t(alignof(Header)), std::nothrow);
    if (block == nullptr) return nullptr;
    auto* const header = new (block) Header{memory.first_, nullptr};
    if (memory.first_ != nullptr) memory.first_->previous = header;
    memory.first_ = header;
    return header + 1;
  }
  static void release(void* self, void* block) {
    auto& memory = *static_cast<Memory*>(self);
    Header* const header = static_cast<Header*>(block) - 1;
    (header->previous != nullptr ? header->previous->next : memory.first_) = header->next;
    if (header->next != nullptr) header->next->previous = header->previous;
    give_back(header);
  }
  static void give_back(Header* header) { ::operator delete(header, std::align_val_t(alignof(Header))); }

  Header* first_ = nullptr;
  onnxc_allocator allocator_{this, allocate, release};
};

}  // namespace onnxc
