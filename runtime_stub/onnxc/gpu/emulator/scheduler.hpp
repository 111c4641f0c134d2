// Which thread goes on when another must wait. Without a seed they come in order, block after block, and threads that never
// wait share one stack, so that an elementwise kernel is a plain loop. With one, the next is drawn among those that can go
// on, of three blocks at once: results that depend on an order differ then.
#pragma once
#if !defined(__CUDACC__)
#include <memory>
#include <mutex>

#include "block.hpp"

namespace onnxc::inline ONNXC_ISA::gpu::emulator {

/// Makes `b` the next block of the grid, if there is one.
inline void load_block(Machine& m, Block& b) {
  if (m.next_block == m.end) return;
  const auto at = m.block_order != nullptr ? static_cast<std::size_t>(m.block_order[m.next_block]) : m.next_block;
  ++m.next_block;
  const auto x = static_cast<std::size_t>(m.grid.x), y = static_cast<std::size_t>(m.grid.y);
  b.index = {static_cast<int>(at % x), static_cast<int>(at / x % y), static_cast<int>(at / (x * y))};
  std::memset(b.shared(), m.unset, b.shared_bytes);
  b.ready.clear();
  b.late_ready.clear();
  b.late = -1;
  b.held = false;
  b.unstarted = b.waiting = 0;
  b.alive = b.threads;
  for (int t = 0; t < b.threads; ++t) {
    Fiber& f = b.fiber(t);
    f.number = t;
    f.home = &b;
    f.state = State::Unstarted;
    f.fenced = f.fenced_now = false;
    f.where = {};
    if (t % 32 == 0) b.warp_of(f) = {};
    b.order[static_cast<std::size_t>(t)] = t;
  }
  if (!m.shuffled()) return;
  if (m.order == Order::LateWarps && b.threads > 32) {
    b.late = 1 + static_cast<int>(m.random.draw(static_cast<uint32_t>(b.threads) / 32 - 1));
    std::stable_partition(b.order.begin(), b.order.begin() + b.threads, [&b](int thread) { return thread / 32 != b.late; });
    return;
  }
  for (int i = b.threads; i > 1; --i) {
    std::swap(b.order[static_cast<std::size_t>(i - 1)], b.order[m.random.draw(static_cast<uint32_t>(i))]);
  }
}

inline void run_fiber();

/// Of a block none of whose threads can go on.
inline void refuse_to_wait(const Block& b) {
  for (int i = 0; i < b.threads; ++i) {
    const Fiber& f = b.fiber(i);
    if (f.state == State::InWarp) fail("lanes of this warp wait for others, which are elsewhere", f.where);
    if (f.state == State::InBlock) fail("threads wait for others of their block, which are elsewhere", f.where);
  }
}

/// A thread of `b` that has not run yet.
inline Fiber* start(Block& b) {
  Fiber& f = b.fiber(b.order[static_cast<std::size_t>(b.unstarted++)]);
  const auto number = static_cast<std::size_t>(f.number);
  std::byte* const stack = b.stacks + number * kStackBytes;
  if (!f.guarded) {
    mprotect(stack, page_bytes(), PROT_NONE);
    f.guarded = true;
  }
  // Stacks begin at different cache lines of their pages, or those of a warp would share a few sets of the cache.
  make_context(f.context, stack, stack + kStackBytes - number * 1088 % 16384 / 64 * 64, run_fiber);
  return &f;
}

/// The block whose thread goes on next, or null where none can.
inline Block* choose_block(Machine& m, Block& present) {
  if (m.stretch > 0) --m.stretch;
  const bool stays = !m.shuffled() || (m.order == Order::Bursts && m.stretch > 0 && !present.held);
  if (stays && present.can_go_on()) return &present;
  if (m.order == Order::Bursts) m.stretch = 1 << m.random.draw(12);
  const int first = m.shuffled() ? static_cast<int>(m.random.draw(static_cast<uint32_t>(m.resident))) : 0;
  Block *late = nullptr, *held = nullptr;
  for (int i = 0; i < m.resident; ++i) {
    Block& b = m.blocks[(first + i) % m.resident];
    if (b.alive == 0) load_block(m, b);
    if (b.alive == 0 || !b.can_go_on()) continue;
    if (b.held) {
      held = &b;
    } else if (b.others_can_go_on()) {
      m.in_late_warp = false;
      return &b;
    } else {
      late = &b;
    }
  }
  if (late == nullptr) return held;
  // Late warps go on where nothing else does: one of them until the rest of its block can, then any, or that again.
  const bool again = !present.held && present.can_go_on() && (m.in_late_warp || m.random.draw(2) == 0);
  m.in_late_warp = true;
  return again ? &present : late;
}

/// The thread of `b` that goes on next.
inline Fiber* choose_thread(Machine& m, Block& b) {
  const bool others = b.others_can_go_on();
  std::vector<int>& ready = others ? b.ready : b.late_ready;
  const bool some_unstarted = b.unstarted < (others ? b.first_late() : b.threads);
  if (ready.empty() || (m.shuffled() && some_unstarted && m.random.draw(4) == 0)) return start(b);
  if (m.shuffled()) std::swap(ready[m.random.draw(static_cast<uint32_t>(ready.size()))], ready.back());
  Fiber& f = b.fiber(ready.back());
  ready.pop_back();
  return &f;
}

/// Goes on with the next thread that can, or outside where all have ended.
inline void leave(Fiber* from) {
  Machine& m = *machine;
  const bool done = from->state == State::Done;
  Block* const b = choose_block(m, *from->home);
  if (b == nullptr) {
    for (int i = 0; i < m.resident; ++i) refuse_to_wait(m.blocks[i]);
    self = nullptr;
    return go_on(from->context, m.outside, done);
  }
  Fiber* const next = choose_thread(m, *b);
  next->state = State::Ready;
  self = next;
  if (next != from) go_on(from->context, next->context, done);
}

/// Lets others go on, if orders are drawn and a coin says so: a place where blocks meet.
inline void may_pause() {
  Fiber* const me = self;
  if (!machine->shuffled() || machine->random.draw(2) == 0) return;
  me->home->make_ready(*me);
  leave(me);
}

/// Lets the threads go on that wait at a barrier.
inline void release_block(Block& b) {
  b.waiting = 0;
  for (int i = b.threads; i-- > 0;) {
    Fiber& f = b.fiber(i);
    f.fenced_now = false;
    if (f.state == State::InBlock) b.make_ready(f);
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
    if (b.warp_of(*me).arrived > 0) fail("a lane has ended, and others of its warp wait", b.warp_of(*me).where);
    if (b.waiting > 0 && b.waiting == b.alive) refuse_to_wait(b);
    if (b.ready.empty() && b.unstarted < b.threads && !m.shuffled()) {
      self = &b.fiber(b.unstarted++);
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
  m.block_order = run.order.empty() ? nullptr : run.order.data();
  m.next_block = first;
  m.end = last;
  m.order = order_of(settings().seed);
  m.resident = m.shuffled() ? Machine::kResident : 1;
  m.random.state = settings().seed * 2654435761u + static_cast<uint32_t>(first);
  m.unset = m.order == Order::Bursts ? 0x4B : 0xFF;
  m.stretch = 0;
  m.in_late_warp = false;
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
