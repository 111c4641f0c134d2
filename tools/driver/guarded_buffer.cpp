#include "tools/driver/guarded_buffer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "compiler/support/checked.h"
#include "compiler/support/error.h"

#if defined(ONNXC_MEMCHECK)
#include <valgrind/memcheck.h>
#endif

namespace onnxc {
namespace {

constexpr std::size_t kLeastAlignment = 64;
constexpr std::byte kGuard{0xa5};

#if defined(ONNXC_EXACT_BLOCKS)
constexpr std::size_t kGuardBytes = 0;

void* allocate_block(std::size_t alignment, std::size_t bytes) {
  void* block = nullptr;
  return posix_memalign(&block, alignment, bytes) == 0 ? block : nullptr;
}
#else
constexpr std::size_t kGuardBytes = 256;

void* allocate_block(std::size_t alignment, std::size_t bytes) {
  return std::aligned_alloc(alignment, (bytes + kGuardBytes + alignment - 1) / alignment * alignment);
}
#endif

}  // namespace

GuardedBuffer::GuardedBuffer(std::size_t bytes, std::size_t alignment, std::byte fill) : bytes_(bytes) {
  if (bytes <= static_cast<std::size_t>(kMostBytes))
    data_.reset(static_cast<std::byte*>(allocate_block(std::max(alignment, kLeastAlignment), bytes)));
  if (data_ == nullptr) throw Error(ErrorKind::Budget, fmt::format("no memory for {} bytes", bytes));
  std::memset(data_.get(), std::to_integer<int>(fill), bytes);
  std::memset(data_.get() + bytes, std::to_integer<int>(kGuard), kGuardBytes);
#if defined(ONNXC_MEMCHECK)
  VALGRIND_MAKE_MEM_UNDEFINED(data_.get(), bytes);
#endif
}

void GuardedBuffer::Free::operator()(std::byte* p) const { std::free(p); }

bool GuardedBuffer::is_intact() const {
  return std::all_of(data_.get() + bytes_, data_.get() + bytes_ + kGuardBytes, [](std::byte b) { return b == kGuard; });
}

#if defined(ONNXC_EXACT_BLOCKS)
void RunMemory::clear() {
  for (void* const block : blocks_) std::free(block);
  blocks_.clear();
}

void* RunMemory::allocate(void* self, std::size_t bytes) {
  void* const block = allocate_block(kLeastAlignment, bytes);
  if (block != nullptr) static_cast<RunMemory*>(self)->blocks_.insert(block);
  return block;
}

void RunMemory::release(void* self, void* block) {
  if (block == nullptr) return;
  static_cast<RunMemory*>(self)->blocks_.erase(block);
  std::free(block);
}
#endif

}  // namespace onnxc
