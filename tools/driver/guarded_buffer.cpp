#include "tools/driver/guarded_buffer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "compiler/support/checked.h"
#include "compiler/support/error.h"
#include "compiler/support/error_codes.h"

#if defined(ONNXC_MEMCHECK)
#include <valgrind/memcheck.h>
#elif defined(ONNXC_WATCHED_MEMORY)
#include <sanitizer/asan_interface.h>
#endif

namespace onnxc {
namespace {

constexpr std::size_t kGuardBytes = 256, kLeastAlignment = 64;
constexpr std::byte kGuard{0xa5};

#if defined(ONNXC_MEMCHECK)
void forbid(std::byte* at, std::size_t bytes) { VALGRIND_MAKE_MEM_NOACCESS(at, bytes); }
void allow(std::byte* at, std::size_t bytes) { VALGRIND_MAKE_MEM_DEFINED(at, bytes); }
void forget(std::byte* at, std::size_t bytes) { VALGRIND_MAKE_MEM_UNDEFINED(at, bytes); }
#elif defined(ONNXC_WATCHED_MEMORY)
void forbid(std::byte* at, std::size_t bytes) { ASAN_POISON_MEMORY_REGION(at, bytes); }
void allow(std::byte* at, std::size_t bytes) { ASAN_UNPOISON_MEMORY_REGION(at, bytes); }
void forget(std::byte* /*at*/, std::size_t /*bytes*/) {}
#else
void forbid(std::byte* /*at*/, std::size_t /*bytes*/) {}
void allow(std::byte* /*at*/, std::size_t /*bytes*/) {}
void forget(std::byte* /*at*/, std::size_t /*bytes*/) {}
#endif

}  // namespace

GuardedBuffer::GuardedBuffer(std::size_t bytes, std::size_t alignment, std::byte fill) : bytes_(bytes) {
  alignment = std::max(alignment, kLeastAlignment);
  if (bytes > static_cast<std::size_t>(kMostBytes)) throw Error(ErrorCode::OutOfMemory, fmt::format("no memory for {} bytes", bytes));
  const std::size_t total = (bytes + kGuardBytes + alignment - 1) / alignment * alignment;
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, total)));
  if (data_ == nullptr) throw Error(ErrorCode::OutOfMemory, fmt::format("no memory for {} bytes", bytes));
  std::memset(data_.get(), std::to_integer<int>(fill), bytes);
  std::memset(data_.get() + bytes, std::to_integer<int>(kGuard), total - bytes);
  forget(data_.get(), bytes);
  forbid(data_.get() + bytes, total - bytes);
}

void GuardedBuffer::Free::operator()(std::byte* p) const { std::free(p); }

bool GuardedBuffer::is_intact() const {
  std::byte* const guard = data_.get() + bytes_;
  allow(guard, kGuardBytes);
  const bool intact = std::all_of(guard, guard + kGuardBytes, [](std::byte b) { return b == kGuard; });
  forbid(guard, kGuardBytes);
  return intact;
}

#if defined(ONNXC_WATCHED_MEMORY)
void RunMemory::clear() {
  for (void* const block : blocks_) std::free(block);
  blocks_.clear();
}

void* RunMemory::allocate(void* self, std::size_t bytes) {
  void* block = nullptr;
  if (posix_memalign(&block, kLeastAlignment, bytes) == 0) static_cast<RunMemory*>(self)->blocks_.insert(block);
  return block;
}

void RunMemory::release(void* self, void* block) {
  if (block == nullptr) return;
  static_cast<RunMemory*>(self)->blocks_.erase(block);
  std::free(block);
}
#endif

}  // namespace onnxc
