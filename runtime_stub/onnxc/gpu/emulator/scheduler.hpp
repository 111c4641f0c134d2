// Blocks in execution: each thread is a fiber, which runs until it must wait. With a seed, the next one to go on is drawn
// among those that can, of three blocks; without, they come in order, and threads that never wait share one stack, so that
// an elementwise kernel is a plain loop.
#pragma once
#if !defined(__CUDACC__)
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "context.hpp"

namespace onnxc::inline ONNXC_ISA::gpu::emulator {

inline constexpr int kMaxThreads = 1024;
inline constexpr std::size_t kPage = 4096, kSharedBytes = 228 << 10;

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
  std::vector<int> ready;
  std::vector<int> order;  ///< in which threads begin
  std::byte* stacks = nullptr;
  std::byte* shared_end = nullptr;  ///< a page that cannot be touched begins here
  std::size_t shared_bytes = 0;
  int threads = 0, unstarted = 0, alive = 0, waiting = 0;
  Index index;

  std::byte* shared() const { return shared_end - shared_bytes; }
  bool can_go_on() const { return !ready.empty() || unstarted < threads; }
};

inline std::byte* map_memory(std::size_t bytes) {
  void* const p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : static_cast<std::byte*>(p);
}

/// What one thread of this machine runs blocks with.
struct Machine {
  static constexpr int kResident = 3;
  static constexpr std::size_t kStacks = kMaxThreads * kStackBytes, kShared = kSharedBytes + kPage, kAll = kResident * (kStacks + kShared);
  Block blocks[kResident];
  Context outside;
  int resident = 1;
  int stretch = 0;  ///< how many times threads of the same block still go on
  Random random;
  Index grid;
  const int* order = nullptr;
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
      mprotect(blocks[i].shared_end, kPage, PROT_NONE);
    }
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() { munmap(memory, kAll); }
  bool shuffled() const { return resident > 1; }
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

/// Makes `b` the next block of the grid, if there is one.
inline void load_block(Machine& m, Block& b) {
  if (m.next_block == m.end) return;
  const auto at = m.order != nullptr ? static_cast<std::size_t>(m.order[m.next_block]) : m.next_block;
  ++m.next_block;
  const auto x = static_cast<std::size_t>(m.grid.x), y = static_cast<std::size_t>(m.grid.y);
  b.index = {static_cast<int>(at % x), static_cast<int>(at / x % y), static_cast<int>(at / (x * y))};
  std::memset(b.shared(), 0xFF, b.shared_bytes);
  b.ready.clear();
  b.unstarted = b.waiting = 0;
  b.alive = b.threads;
  for (int t = 0; t < b.threads; ++t) {
    Fiber& f = b.fibers[static_cast<std::size_t>(t)];
    f.number = t;
    f.home = &b;
    f.state = State::Unstarted;
    f.fenced = f.fenced_now = false;
    f.where = {};
    if (t % 32 == 0) b.warps[static_cast<std::size_t>(t / 32)] = {};
    b.order[static_cast<std::size_t>(t)] = t;
  }
  if (!m.shuffled()) return;
  for (int i = b.threads; i > 1; --i) std::swap(b.order[static_cast<std::size_t>(i - 1)], b.order[m.random.draw(static_cast<uint32_t>(i))]);
  const int late = static_cast<int>(m.random.draw(static_cast<uint32_t>(b.threads) / 32));  // a warp that comes after all others
  std::stable_partition(b.order.begin(), b.order.begin() + b.threads, [late](int thread) { return thread / 32 != late; });
}

inline void run_fiber();

/// Of a block none of whose threads can go on.
inline void refuse_to_wait(const Block& b) {
  for (int i = 0; i < b.threads; ++i) {
    const Fiber& f = b.fibers[static_cast<std::size_t>(i)];
    if (f.state == State::InWarp) fail("lanes of this warp wait for others, which are elsewhere", f.where);
    if (f.state == State::InBlock) fail("threads wait for others of their block, which are elsewhere", f.where);
  }
}

/// A fiber of `b` that has not run yet.
inline Fiber* start(Block& b) {
  const auto number = static_cast<std::size_t>(b.order[static_cast<std::size_t>(b.unstarted++)]);
  Fiber& f = b.fibers[number];
  std::byte* const stack = b.stacks + number * kStackBytes;
  if (!f.guarded) {
    mprotect(stack, kPage, PROT_NONE);
    f.guarded = true;
  }
  // Stacks begin at different cache lines of their pages, or those of a warp would share a few sets of the cache.
  make_context(f.context, stack, stack + kStackBytes - number * 1088 % 16384 / 64 * 64, run_fiber);
  return &f;
}

/// Goes on with the next thread that can, or outside where all have ended.
inline void leave(Fiber* from) {
  Machine& m = *machine;
  Block* b = from->home;
  const bool done = from->state == State::Done;
  if (m.stretch > 0) --m.stretch;
  if ((m.shuffled() && m.stretch == 0) || !b->can_go_on()) {
    // Now and then a block gets far ahead of the others.
    m.stretch = m.shuffled() ? 1 << m.random.draw(10) : 0;
    const int first = m.shuffled() ? static_cast<int>(m.random.draw(static_cast<uint32_t>(m.resident))) : 0;
    b = nullptr;
    for (int i = 0; i < m.resident && b == nullptr; ++i) {
      Block& other = m.blocks[(first + i) % m.resident];
      if (other.alive == 0) load_block(m, other);
      if (other.alive > 0 && other.can_go_on()) b = &other;
    }
    if (b == nullptr) {
      for (int i = 0; i < m.resident; ++i) refuse_to_wait(m.blocks[i]);
      self = nullptr;
      return go_on(from->context, m.outside, done);
    }
  }
  Fiber* next = nullptr;
  if (m.shuffled() && !b->ready.empty()) std::swap(b->ready[m.random.draw(static_cast<uint32_t>(b->ready.size()))], b->ready.back());
  if (b->ready.empty() || (m.shuffled() && b->unstarted < b->threads && m.random.draw(4) == 0)) {
    next = start(*b);
  } else {
    next = &b->fibers[static_cast<std::size_t>(b->ready.back())];
    b->ready.pop_back();
  }
  next->state = State::Ready;
  self = next;
  if (next != from) go_on(from->context, next->context, done);
}

/// Lets others go on, if orders are drawn and a coin says so: a place where blocks meet.
inline void may_pause() {
  Fiber* const me = self;
  if (!machine->shuffled() || machine->random.draw(2) == 0) return;
  me->home->ready.push_back(me->number);
  leave(me);
}

/// Lets the threads go on that wait at a barrier.
inline void release_block(Block& b) {
  b.waiting = 0;
  for (int i = b.threads; i-- > 0;) {
    Fiber& f = b.fibers[static_cast<std::size_t>(i)];
    f.fenced_now = false;
    if (f.state != State::InBlock) continue;
    f.state = State::Ready;
    b.ready.push_back(i);
  }
}

/// The first function of every stack. A thread that ends without having waited leaves its stack to the next one.
inline void run_fiber() {
  entered(machine->outside);
  for (;;) {
    Machine& m = *machine;
    Fiber* const me = self;
    Block& b = *me->home;
    m.body(m.kernel, b.shared());
    if (!me->copies.empty()) fail("a thread ends before its copies were waited for", me->where);
    me->groups.clear();
    me->state = State::Done;
    --b.alive;
    const Warp& w = b.warps[static_cast<std::size_t>(me->number / 32)];
    if (w.arrived > 0) fail("a lane has ended, and others of its warp wait", w.where);
    if (b.waiting > 0 && b.waiting == b.alive) refuse_to_wait(b);
    if (b.ready.empty() && b.unstarted < b.threads && !m.shuffled()) {
      self = &b.fibers[static_cast<std::size_t>(b.unstarted++)];
      self->state = State::Ready;
      continue;
    }
    leave(me);
  }
}

/// Machines that nobody uses: their stacks have been touched, and are kept.
struct Idle {
  std::mutex mutex;
  std::vector<std::unique_ptr<Machine>> machines;

  std::unique_ptr<Machine> take() {
    const std::lock_guard lock(mutex);
    if (machines.empty()) return std::make_unique<Machine>();
    auto m = std::move(machines.back());
    machines.pop_back();
    return m;
  }
  void give(std::unique_ptr<Machine> m) {
    const std::lock_guard lock(mutex);
    machines.push_back(std::move(m));
  }
};
inline Idle& idle() {
  static Idle all;
  return all;
}

/// A kernel without its type, and the order of its blocks: counted x first, or as `order` has them.
struct Run {
  const void* kernel;
  void (*body)(const void* kernel, std::byte* shared);
  int threads;
  std::size_t shared_bytes;
  Index grid;
  std::vector<int> order;
};

/// Blocks [first, last) of a run.
inline void run_blocks(const Run& run, std::size_t first, std::size_t last) {
  if (first == last) return;
  auto owned = idle().take();
  Machine& m = *owned;
  machine = &m;
  m.kernel = run.kernel;
  m.body = run.body;
  m.grid = run.grid;
  m.order = run.order.empty() ? nullptr : run.order.data();
  m.next_block = first;
  m.end = last;
  m.resident = settings().seed != 0 ? Machine::kResident : 1;
  m.random.state = settings().seed * 2654435761u + static_cast<uint32_t>(first);
  m.stretch = 0;
  m.outside = {};
  for (Block& b : m.blocks) {
    b.threads = run.threads;
    b.order.resize(static_cast<std::size_t>(run.threads));
    b.alive = 0;
    b.shared_bytes = (run.shared_bytes + 15) / 16 * 16;
  }
  load_block(m, m.blocks[0]);
  self = start(m.blocks[0]);
  self->state = State::Ready;
  go_on(m.outside, self->context);
  machine = nullptr;
  idle().give(std::move(owned));
}

}  // namespace onnxc::gpu::emulator
#endif
