#include "compiler/support/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace onnxc {
namespace {

/// What is mapped. Entries stay, with no bytes once the memory is gone: a handler of signals walks over the list, which cannot take locks.
struct Mapping {
  std::atomic<const std::byte*> first = nullptr;
  std::atomic<std::size_t> bytes = 0;
  std::string name;
  Mapping* next = nullptr;
};
constinit std::atomic<Mapping*> mappings = nullptr;

struct Unmap {
  Mapping* mapping;
  void operator()(const std::byte* first) const { munmap(const_cast<std::byte*>(first), mapping->bytes.exchange(0)); }
};

template <class T>
std::shared_ptr<T> map(int file, std::size_t bytes, std::string name, int protection, int flags) {
  if (bytes == 0) return nullptr;
  void* const memory = mmap(nullptr, bytes, protection, flags, file, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* const entry = new Mapping{static_cast<const std::byte*>(memory), bytes, std::move(name)};
  entry->next = mappings;
  while (!mappings.compare_exchange_weak(entry->next, entry)) {
  }
  return {static_cast<T*>(memory), Unmap{entry}};
}

/// An open file without a name in that folder, or -1, also where files of that folder are in memory.
int open_unnamed(const char* folder) {
  constexpr long kTmpfs = 0x01021994, kRamfs = 0x858458f6;
  struct statfs status{};
  if (folder == nullptr || *folder == '\0' || statfs(folder, &status) != 0) return -1;
  if (status.f_type == kTmpfs || status.f_type == kRamfs) return -1;
  return open(folder, O_RDWR | O_TMPFILE | O_EXCL | O_CLOEXEC, 0600);
}

}  // namespace

std::shared_ptr<const std::byte> map_file(int file, std::size_t bytes, std::string name) {
  return map<const std::byte>(file, bytes, std::move(name), PROT_READ, MAP_PRIVATE);
}

std::shared_ptr<std::byte> map_scratch(std::size_t bytes) {
  int file = -1;
  for (const char* folder : {static_cast<const char*>(std::getenv("TMPDIR")), "/tmp", "/var/tmp"}) {
    if (file < 0) file = open_unnamed(folder);
  }
  if (file < 0) return nullptr;
  // Blocks are taken now: on a full disk a page would end the process when it is written.
  const bool has_room = posix_fallocate(file, 0, static_cast<off_t>(bytes)) == 0;
  auto memory = has_room ? map<std::byte>(file, bytes, "a temporary file", PROT_READ | PROT_WRITE, MAP_SHARED) : nullptr;
  close(file);
  return memory;
}

void give_back_pages(const std::byte* first, std::size_t bytes) noexcept {
  static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(first) + page - 1) / page * page,
                  end = reinterpret_cast<uintptr_t>(first + bytes) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

const char* mapped_file_at(const void* address) noexcept {
  constexpr std::uintptr_t kPage = 1 << 16;  // the end of the last page belongs to the file as well
  const auto at = reinterpret_cast<uintptr_t>(address);
  for (const Mapping* m = mappings; m != nullptr; m = m->next) {
    const auto first = reinterpret_cast<uintptr_t>(m->first.load());
    if (m->bytes != 0 && at >= first && at < first + m->bytes + kPage) return m->name.c_str();
  }
  return nullptr;
}

}  // namespace onnxc
