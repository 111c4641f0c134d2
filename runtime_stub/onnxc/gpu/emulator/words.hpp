// The words of device.hpp that one thread says alone, barriers and asynchronous copies, with their checks:
//   - threads of a block that wait at different places, or for one that has ended
//   - accesses of 16 bytes that are not aligned
//   - copies come as late as they may, at their wait; until then what nobody set lies where they go
//   - tickets without a fence before them
#pragma once
#if !defined(__CUDACC__)
#include <atomic>
#include <bit>

#include "scheduler.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {

ONNXC_DEVICE int thread() { return emulator::self->number; }
ONNXC_DEVICE int lane() { return emulator::self->number % 32; }
ONNXC_DEVICE int warp() { return emulator::self->number / 32; }
ONNXC_DEVICE Index block() { return emulator::self->home->index; }
ONNXC_DEVICE Index blocks() { return emulator::machine->grid; }

inline void sync_block(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  const emulator::Where where{file, line};
  emulator::Fiber* const me = emulator::self;
  emulator::Block& b = *me->home;
  if (b.waiting > 0) {
    for (int i = 0; i < b.threads; ++i) {
      const emulator::Fiber& other = b.fiber(i);
      if (other.state != emulator::State::InBlock) continue;
      if (!emulator::same(other.where, where)) emulator::fail("threads of a block wait at different places", where);
      break;
    }
  }
  me->where = where;
  me->state = emulator::State::InBlock;
  if (b.alive < b.threads) emulator::fail("a thread has ended, and others of its block wait", where);
  if (++b.waiting < b.alive) return emulator::leave(me);
  emulator::release_block(b);
  emulator::leave(me);
}

inline void fence() {
  emulator::self->fenced = emulator::self->fenced_now = true;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  emulator::may_pause();
}

/// What the block wrote must be seen by who draws a later ticket. So there was a fence since then: either of this thread
/// after the last barrier, or of each thread of the block before it.
inline unsigned fetch_add(unsigned* p, unsigned v ONNXC_CALLER) {
  emulator::Block& b = *emulator::self->home;
  bool fenced = emulator::self->fenced_now;
  if (!fenced) {
    fenced = true;
    for (int i = 0; i < b.threads; ++i) fenced = fenced && b.fiber(i).fenced;
  }
  if (!fenced) emulator::fail("a ticket is drawn, and no fence() lies between it and what the block wrote", {file, line});
  for (int i = 0; i < b.threads; ++i) b.fiber(i).fenced = false;
  const unsigned ticket = __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);
  // What it stands for may not be written yet, if a barrier is missing: then others must come before it is.
  b.held = emulator::machine->shuffled() && emulator::machine->random.draw(2) == 0;
  emulator::may_pause();
  return ticket;
}
inline void add(unsigned* p, unsigned v) { __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }
inline void fetch_max(unsigned* p, unsigned v) {
  unsigned old = __atomic_load_n(p, __ATOMIC_RELAXED);
  while (old < v && !__atomic_compare_exchange_n(p, &old, v, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

template <class T>
Pack<T> load(const T* p ONNXC_CALLER) {
  if (reinterpret_cast<std::uintptr_t>(p) % 16 != 0) emulator::fail("a load of 16 bytes that is not aligned", {file, line});
  Pack<T> v;
  std::memcpy(static_cast<void*>(&v), p, 16);
  return v;
}
template <class T>
void store(T* p, const Pack<T>& v ONNXC_CALLER) {
  if (reinterpret_cast<std::uintptr_t>(p) % 16 != 0) emulator::fail("a store of 16 bytes that is not aligned", {file, line});
  std::memcpy(static_cast<void*>(p), &v, 16);
}

template <class T>
void store(T* p, const Pair<T>& v ONNXC_CALLER) {
  if (reinterpret_cast<std::uintptr_t>(p) % sizeof(v) != 0) emulator::fail("a store of two neighbours that is not aligned", {file, line});
  std::memcpy(static_cast<void*>(p), &v, sizeof(v));
}

inline void copy_async(void* to, const void* from, bool valid ONNXC_CALLER) {
  const emulator::Where where{file, line};
  emulator::Fiber& me = *emulator::self;
  const auto target = static_cast<std::byte*>(to);
  if ((reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from)) % 16 != 0) {
    emulator::fail("a copy of 16 bytes that is not aligned", where);
  }
  if (target < me.home->shared() || target + 16 > me.home->shared_end) emulator::fail("a copy that does not go to shared memory", where);
  std::memset(to, emulator::machine->unset, 16);
  me.where = where;
  me.copies.push_back({to, from, valid});
}
inline void commit() { emulator::self->groups.push_back(emulator::self->copies.size()); }
/// All groups but the last N are there.
template <int N>
void wait() {
  auto& copies = emulator::self->copies;
  auto& groups = emulator::self->groups;
  if (groups.size() <= N) return;
  const std::size_t done = groups[groups.size() - 1 - N];
  for (std::size_t i = 0; i < done; ++i) {
    if (copies[i].valid) std::memcpy(copies[i].to, copies[i].from, 16);
    else std::memset(copies[i].to, 0, 16);
  }
  copies.erase(copies.begin(), copies.begin() + static_cast<std::ptrdiff_t>(done));
  groups.erase(groups.begin(), groups.end() - N);
  for (std::size_t& end : groups) end -= done;
}

/// To nearest, ties away from zero.
inline float round_tf32(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  if ((bits & 0x7F800000u) == 0x7F800000u) return x;  // infinities, NaNs
  return std::bit_cast<float>((bits + 0x1000u) & 0xFFFFE000u);
}

}  // namespace onnxc::gpu
#endif
