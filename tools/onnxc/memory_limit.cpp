#include "tools/onnxc/memory_limit.h"

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <new>

#include "compiler/support/error.h"
#include "compiler/support/error_codes.h"
#include "compiler/support/out_of_memory.h"
#include "compiler/support/stage.h"
#include "tools/driver/leftovers.h"
#include "tools/driver/limits.h"

namespace onnxc {
namespace {

// Before main begins, constructors allocate: all of this is initialised before any code runs.
constinit std::atomic<int64_t> held = 0;           // bytes
constinit std::atomic<int64_t> limit = INT64_MAX;  // bytes
constinit std::atomic<int64_t> room = 0;           // above the limit, once it was met
constinit std::atomic<const char*> short_at = nullptr;
constinit std::array<char, 512> model_name = {};

/// For what tells of the error and for destructors.
constexpr int64_t kRoom = 16 << 20;

[[noreturn]] void fail_to_allocate() {
  const char* none = nullptr;
  short_at.compare_exchange_strong(none, Stage::current());
  memory_was_short = true;
  throw std::bad_alloc();
}

/// Ends the program with the exit status of Error{Budget}. There may be no memory: nothing here takes any.
[[noreturn]] void end_in_shortage() {
  abandon();
  const auto say = [](const char* text) {
    if (write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
  };
  say("onnxc: error[E0912]: ");
  say(model_name.data());
  say(model_name[0] != '\0' ? ": out of memory\n" : "out of memory\n");
  _exit(4);
}

void on_terminate() {
  try {
    if (const std::exception_ptr current = std::current_exception()) std::rethrow_exception(current);
  } catch (const std::bad_alloc&) {
    end_in_shortage();
  } catch (...) {  // a bug, and abort tells debuggers of it
  }
  std::abort();
}

/// Before the constructors of libraries, which may lack memory as well.
[[gnu::constructor(101)]] void set_handler() { std::set_terminate(on_terminate); }

std::string file_text(const char* path) {
  std::ifstream file(path);
  std::string text;
  std::getline(file, text);
  return text;
}

#ifndef __SANITIZE_ADDRESS__

void* count(void* memory) {
  held.fetch_add(static_cast<int64_t>(malloc_usable_size(memory)), std::memory_order_relaxed);
  return memory;
}

template <class Allocate>
void* take(std::size_t bytes, Allocate allocate) {
  const int64_t most = limit.load(std::memory_order_relaxed);
  if (most != INT64_MAX && limits_hold) [[unlikely]] {
    // Differences cannot overflow: no object has 2^63 bytes.
    if (bytes > INT64_MAX || most + room - held.load(std::memory_order_relaxed) < static_cast<int64_t>(bytes)) {
      room = kRoom;
      fail_to_allocate();
    }
  }
  while (true) {
    if (void* const memory = allocate()) return count(memory);
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) fail_to_allocate();
    handler();
  }
}

void give_back(void* memory) noexcept {
  if (memory == nullptr) return;
  held.fetch_sub(static_cast<int64_t>(malloc_usable_size(memory)), std::memory_order_relaxed);
  std::free(memory);
}

#endif

}  // namespace

void limit_memory(int64_t bytes) { limit = bytes; }

int64_t machine_memory() {
  int64_t bytes = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    const std::string text = file_text(path);  // "max" where there is none
    if (!text.empty() && text.size() < 19 && text.find_first_not_of("0123456789") == text.npos)
      bytes = std::min<int64_t>(bytes, std::stoll(text));
  }
  return bytes > 0 ? bytes : INT64_MAX;
}

Error memory_shortage(const std::string& felt) {
  const char* const stage = short_at;
  const std::string where = stage == nullptr || !felt.empty() ? "" : fmt::format(", in {}", stage);
  return {ErrorCode::OutOfMemory, (felt.empty() ? "out of memory" : felt) + where,
          room == 0 ? std::string("see --max-memory") : fmt::format("--max-memory allows {} bytes", limit.load())};
}

void expect_shortages(const std::string& model) {
  const std::string name = one_line(model);
  std::strncpy(model_name.data(), name.c_str(), model_name.size() - 1);
}

}  // namespace onnxc

#ifndef __SANITIZE_ADDRESS__

// All other forms of new and delete call these.
void* operator new(std::size_t bytes) {
  return onnxc::take(bytes, [&] { return std::malloc(bytes != 0 ? bytes : 1); });
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return onnxc::take(bytes, [&] {
    void* memory = nullptr;
    return posix_memalign(&memory, static_cast<std::size_t>(alignment), bytes != 0 ? bytes : 1) == 0 ? memory : nullptr;
  });
}
void operator delete(void* memory) noexcept { onnxc::give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { onnxc::give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { onnxc::give_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { onnxc::give_back(memory); }

#endif
