// A small pool of threads for hosts: parallel_for(count, body) runs body(0) ... body(count - 1) and returns when all
// are done.
//
// A worker that has nothing to do spins for a while and then sleeps, because waking a sleeping worker takes a system
// call and far longer than a hand-over to a spinning one. Whoever wakes a worker keeps it off its own processor. There
// the worker would wait until the system finds that another processor is idle, which takes very long on virtual
// machines that pack threads.
//
// Thread t begins with index t, so it finds the neighbours of what it did before in its cache. Indices that nobody has
// begun are done by whoever is free. So a worker that the system has not scheduled, or that sleeps too deep, costs its
// help but stalls nobody. The caller is thread 0. There must be one caller at a time, parallel_for must not be called
// from inside a body, and bodies must not throw.
//
//   onnxc::ThreadPool threads(4);
//   onnxc_executor executor = threads.executor();   // for onnxc_call
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#include <unistd.h>
#endif

#include "model.h"

namespace onnxc {

namespace thread_pool {  // not `detail`, which kernels have in the namespace of their instruction set

/// Where a worker may run: on the processors that it began with, but not on that of the caller that wakes it.
class Placement {
 public:
#if defined(__linux__)
  /// The worker begins.
  void begins() {
    thread_ = gettid();
    known_ = sched_getaffinity(0, sizeof allowed_, &allowed_) == 0;
  }
  /// The worker is about to sleep.
  void sleeps() { asleep_.store(known_, std::memory_order_release); }
  /// The worker is awake.
  void wakes() { asleep_.store(false, std::memory_order_relaxed); }
  /// The worker has seen a round. The caller may have kept it off a processor, even if it woke by itself just before:
  /// it may run anywhere again.
  void roams() {
    if (!confined_.load(std::memory_order_acquire)) return;
    confined_.store(false, std::memory_order_relaxed);
    sched_setaffinity(0, sizeof allowed_, &allowed_);
  }
  /// The caller is about to wake the worker. If it sleeps, it must wake on another processor.
  void keep_from_here() {
    if (!asleep_.load(std::memory_order_acquire)) return;
    const int here = sched_getcpu();
    cpu_set_t others = allowed_;
    if (here < 0 || here >= CPU_SETSIZE || CPU_COUNT(&others) < 2) return;
    CPU_CLR(here, &others);
    sched_setaffinity(thread_, sizeof others, &others);
    confined_.store(true, std::memory_order_release);  // after it: a worker late from the round before may roam at this moment
  }

 private:
  pid_t thread_ = 0;
  bool known_ = false;
  cpu_set_t allowed_{};
  std::atomic<bool> confined_{false}, asleep_{false};
#else
  void begins() {}
  void sleeps() {}
  void wakes() {}
  void roams() {}
  void keep_from_here() {}
#endif
};

}  // namespace thread_pool

class ThreadPool {
 public:
  /// `spins`: how often a worker checks before it sleeps. Each check pauses, for a time that differs between processors.
  explicit ThreadPool(int count, int spins = 10'000)
      : count_(count < 1 ? 1 : count),
        spins_(spins),
        lanes_(std::make_unique<Lane[]>(static_cast<std::size_t>(count_))),
        workers_(std::make_unique<std::thread[]>(static_cast<std::size_t>(count_ - 1))) {
    for (int t = 1; t < count_; ++t) workers_[static_cast<std::size_t>(t - 1)] = std::thread([this, t] { work(t); });
  }
  ~ThreadPool() {
    stop_.store(true, std::memory_order_relaxed);
    start(0);
    for (int t = 1; t < count_; ++t) workers_[static_cast<std::size_t>(t - 1)].join();
  }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int count() const { return count_; }

  void parallel_for(int32_t count, void (*body)(void* context, int32_t i), void* context) {
    if (count_ == 1 || count <= 1) {
      for (int32_t i = 0; i < count; ++i) body(context, i);
      return;
    }
    body_ = body;
    context_ = context;
    pending_.store(count, std::memory_order_relaxed);
    share(0, start(count));
    for (int spin = 0;;) {
      const int left = pending_.load(std::memory_order_acquire);
      if (left == 0) return;
      if (spin < spins_) {
        ++spin;
        pause();
      } else {
        pending_.wait(left, std::memory_order_acquire);
      }
    }
  }

  /// parallel_for with any callable of int32_t.
  template <class F>
  void parallel_for(int32_t count, F&& body) {
    parallel_for(
        count, [](void* context, int32_t i) { (*static_cast<std::remove_reference_t<F>*>(context))(i); }, static_cast<void*>(&body));
  }

  onnxc_executor executor() {
    return {count_, this, [](void* self, int32_t count, void (*body)(void*, int32_t), void* context) {
              static_cast<ThreadPool*>(self)->parallel_for(count, body, context);
            }};
  }

 private:
  static void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  /// The indices t, t + threads, ... that nobody has begun: the round in the upper half, their number in the lower. The
  /// last one is begun first.
  struct alignas(64) Lane {
    std::atomic<uint64_t> left{0};
    alignas(64) thread_pool::Placement placement;
  };

  /// Begins a round of `indices` indices and returns its number.
  uint32_t start(int32_t indices) {
    const uint32_t round = round_.load(std::memory_order_relaxed) + 1;
    for (int t = 0; t < count_; ++t) {
      const auto left = static_cast<uint64_t>(indices > t ? (indices - t + count_ - 1) / count_ : 0);
      lanes_[static_cast<std::size_t>(t)].left.store(uint64_t{round} << 32 | left, std::memory_order_release);
    }
    for (int t = 1; t < count_; ++t) lanes_[static_cast<std::size_t>(t)].placement.keep_from_here();
    round_.store(round, std::memory_order_release);
    round_.notify_all();
    return round;
  }

  /// Runs indices that nobody has begun, beginning with the lane of thread `first`. A thread that comes late finds
  /// lanes of another round and leaves.
  void share(int first, uint32_t round) {
    for (int k = 0; k < count_; ++k) {
      const int t = (first + k) % count_;
      std::atomic<uint64_t>& lane = lanes_[static_cast<std::size_t>(t)].left;
      for (uint64_t left = lane.load(std::memory_order_relaxed); left >> 32 == round && static_cast<uint32_t>(left) > 0;) {
        if (!lane.compare_exchange_weak(left, left - 1, std::memory_order_acquire, std::memory_order_relaxed)) continue;
        body_(context_, t + static_cast<int32_t>(static_cast<uint32_t>(left) - 1) * count_);
        if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) pending_.notify_one();
        left = lane.load(std::memory_order_relaxed);
      }
    }
  }

  void work(int thread) {
    thread_pool::Placement& placement = lanes_[static_cast<std::size_t>(thread)].placement;
    placement.begins();
    for (uint32_t seen = 0;;) {
      for (int spin = 0; round_.load(std::memory_order_acquire) == seen;) {
        if (spin < spins_) {
          ++spin;
          pause();
        } else {
          placement.sleeps();
          round_.wait(seen, std::memory_order_acquire);
          placement.wakes();
        }
      }
      seen = round_.load(std::memory_order_acquire);
      placement.roams();
      if (stop_.load(std::memory_order_relaxed)) return;
      share(thread, seen);
    }
  }

  const int count_, spins_;
  // Everything that a worker waits for is in one line, because a line takes long between processors without a common
  // cache.
  alignas(64) std::atomic<uint32_t> round_{0};  // each parallel_for is a round; workers wait for the next one
  std::atomic<bool> stop_{false};
  void (*body_)(void*, int32_t) = nullptr;
  void* context_ = nullptr;
  alignas(64) std::atomic<int> pending_{0};  // indices of this round that are not done
  alignas(64) std::unique_ptr<Lane[]> lanes_;
  std::unique_ptr<std::thread[]> workers_;
};

}  // namespace onnxc
