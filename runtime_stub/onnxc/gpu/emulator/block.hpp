// Blocks in execution: each thread is a fiber, which runs until it must wait. And how the program ends when one is wrong.
#pragma once
#if !defined(__CUDACC__)
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "context.hpp"

namespace onnxc::inline ONNXC_ISA::gpu::emulator {

inline constexpr int kMaxThreads = 1024;
inline constexpr std::size_t kLargestPage = 64 << 10, kSharedBytes = 256 << 10;  // as much as any GPU has, and whole pages
inline std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

enum class State : unsigned char { Unstarted, Ready, InWarp, InBlock, Done };

/// An asynchronous copy of 16 bytes.
struct Copy {
  void* to;
  const void* from;
  bool valid;
};

struct Block;

/// A thread of a block.
struct Fiber {
  Context context;
  Block* home = nullptr;
  int number = 0;
  State state = State::Unstarted;
  bool fenced = false;              ///< a fence since the block drew its last ticket
  bool fenced_now = false;          ///< and since the last barrier
  bool guarded = false;             ///< a page that cannot be touched lies below its stack
  Where where;                      ///< where it waits, or last did
  std::vector<Copy> copies;         ///< that have not been waited for
  std::vector<std::size_t> groups;  ///< how many copies there were at each commit
};

struct Warp {
  void* operands[32] = {};
  int arrived = 0;
  Where where;
};

struct Block {
  std::vector<Fiber> fibers{kMaxThreads};
  std::vector<Warp> warps{kMaxThreads / 32};
  std::vector<int> order;              ///< in which threads begin
  std::vector<int> ready, late_ready;  ///< threads that waited, and can go on; those of the late warp
  int late = -1;                       ///< a warp that goes on only when no other can, or none; its threads begin last
  bool held = false;                   ///< it goes on only when no other block can
  std::byte* stacks = nullptr;
  std::byte* shared_end = nullptr;  ///< a page that cannot be touched begins here
  std::size_t shared_bytes = 0;
  int threads = 0, unstarted = 0, alive = 0, waiting = 0;
  Index index;

  std::byte* shared() const { return shared_end - shared_bytes; }
  Fiber& fiber(int number) { return fibers[static_cast<std::size_t>(number)]; }
  const Fiber& fiber(int number) const { return fibers[static_cast<std::size_t>(number)]; }
  Warp& warp_of(const Fiber& f) { return warps[static_cast<std::size_t>(f.number / 32)]; }
  /// Threads before this one in `order` are not of the late warp.
  int first_late() const { return late < 0 ? threads : threads - 32; }
  bool others_can_go_on() const { return !ready.empty() || unstarted < first_late(); }
  bool can_go_on() const { return others_can_go_on() || !late_ready.empty() || unstarted < threads; }
  void make_ready(Fiber& f) {
    f.state = State::Ready;
    (f.number / 32 == late ? late_ready : ready).push_back(f.number);
  }
};

inline std::byte* map_memory(std::size_t bytes) {
  void* const p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : static_cast<std::byte*>(p);
}

/// How the next thread is drawn. Each finds what others rarely do.
enum class Order : unsigned char {
  AsTheyCome,
  Any,        ///< of any block
  Bursts,     ///< some blocks get far ahead of others
  LateWarps,  ///< a warp of each block, which is not the first, stays behind as long as it can
};
inline Order order_of(unsigned seed) { return seed == 0 ? Order::AsTheyCome : static_cast<Order>(1 + (seed - 1) % 3); }

/// What one thread of this machine runs blocks with.
struct Machine {
  static constexpr int kResident = 3;
  static constexpr std::size_t kStacks = kMaxThreads * kStackBytes, kShared = kSharedBytes + kLargestPage,
                               kAll = kResident * (kStacks + kShared);
  Block blocks[kResident];
  Context outside;
  Order order = Order::AsTheyCome;
  int resident = 1;
  int stretch = 0;  ///< how many times threads of the same block still go on, in bursts
  bool in_late_warp = false;
  /// Bytes of shared memory that nobody set: NaNs, which few results hide, or large finite numbers of all types, since some
  /// kernels compute anew what is not finite.
  int unset = 0xFF;
  Random random;
  Index grid;
  const int* block_order = nullptr;
  std::size_t next_block = 0, end = 0;
  const void* kernel = nullptr;
  void (*body)(const void* kernel, std::byte* shared) = nullptr;
  std::byte* memory = nullptr;

  Machine() : memory(map_memory(kAll)) {
    if (memory == nullptr) {
      std::fputs("the emulator has no memory for its stacks\n", stderr);
      std::abort();
    }
    std::byte* shared = memory + kResident * kStacks;
    for (int i = 0; i < kResident; ++i, shared += kShared) {
      blocks[i].stacks = memory + static_cast<std::size_t>(i) * kStacks;
      blocks[i].shared_end = shared + kSharedBytes;
      mprotect(blocks[i].shared_end, page_bytes(), PROT_NONE);
    }
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() { munmap(memory, kAll); }
  bool shuffled() const { return order != Order::AsTheyCome; }
};

/// Of the thread that runs; null outside of kernels.
inline constinit thread_local Machine* machine = nullptr;
inline constinit thread_local Fiber* self = nullptr;

inline void tell_where(char* text, std::size_t room, const char* what, const Where& where) {
  const int length = std::snprintf(text, room, "%s:%d: %s", where.file, where.line, what);
  const Fiber* const f = self;
  if (f != nullptr && length > 0 && static_cast<std::size_t>(length) < room) {
    const Index& at = f->home->index;
    std::snprintf(text + length, room - static_cast<std::size_t>(length), " (block %d %d %d, thread %d)", at.x, at.y, at.z, f->number);
  }
}

/// Ends the program: a GPU would go wrong here in silence, or now and then.
[[noreturn]] inline void fail(const char* what, const Where& where) {
  char text[1024];
  tell_where(text, sizeof(text), what, where);
  std::fprintf(stderr, "%s\n", text);
  std::abort();
}

/// Says which thread it was that touched a page that cannot be touched, and lets the program end.
inline void on_bad_access(int signal) {
  if (self != nullptr) {
    char text[1024];
    tell_where(text, sizeof(text), "an access beyond an allocation, after this line or the kernel's begin", self->where);
    const bool told = write(STDERR_FILENO, text, std::strlen(text)) > 0 && write(STDERR_FILENO, "\n", 1) > 0;
    static_cast<void>(told);
  }
  ::signal(signal, SIG_DFL);
}

/// Where the program has nobody else who asks.
inline void watch_accesses() {
  struct sigaction present = {};
  if (sigaction(SIGSEGV, nullptr, &present) == 0 && (present.sa_flags & SA_SIGINFO) == 0 && present.sa_handler == SIG_DFL) {
    ::signal(SIGSEGV, on_bad_access);
  }
}

}  // namespace onnxc::gpu::emulator
#endif
