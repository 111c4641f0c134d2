// A small pool of threads for hosts: parallel_for(count, body) runs body(0) ... body(count - 1) and returns when all are done.
//
// A worker that has nothing to do spins for a while and then sleeps: a hand-over to a spinning worker costs a tenth of a microsecond, one to a
// sleeping worker twenty. The work of thread t is fixed: the indices t, t + threads, t + 2 threads, ...; the caller is thread 0. One caller
// at a time; parallel_for must not be called from inside a body, and bodies must not throw.
//
//   onnxc::ThreadPool threads(4);
//   onnxc_executor executor = threads.executor();   // for onnxc_call
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include "model.h"

namespace onnxc {

class ThreadPool {
 public:
  /// `spins`: checks before a worker sleeps; 20,000 are some tens of microseconds.
  explicit ThreadPool(int count, int spins = 20'000) : count_(count < 1 ? 1 : count), spins_(spins), workers_(std::make_unique<std::thread[]>(static_cast<std::size_t>(count_ - 1))) {
    for (int t = 1; t < count_; ++t) workers_[static_cast<std::size_t>(t - 1)] = std::thread([this, t] { work(t); });
  }
  ~ThreadPool() {
    stop_.store(true, std::memory_order_relaxed);
    start();
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
    size_ = count;
    pending_.store(count_ - 1, std::memory_order_relaxed);
    start();
    share(0);
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
    parallel_for(count, [](void* context, int32_t i) { (*static_cast<std::remove_reference_t<F>*>(context))(i); }, static_cast<void*>(&body));
  }

  onnxc_executor executor() {
    return {count_, this, [](void* self, int32_t count, void (*body)(void*, int32_t), void* context) { static_cast<ThreadPool*>(self)->parallel_for(count, body, context); }};
  }

 private:
  static void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  void start() {
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
  }

  void share(int thread) {
    for (int32_t i = thread; i < size_; i += count_) body_(context_, i);
  }

  void work(int thread) {
    for (uint32_t seen = 0;;) {
      for (int spin = 0; round_.load(std::memory_order_acquire) == seen;) {
        if (spin < spins_) {
          ++spin;
          pause();
        } else {
          round_.wait(seen, std::memory_order_acquire);
        }
      }
      ++seen;
      if (stop_.load(std::memory_order_relaxed)) return;
      share(thread);
      if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) pending_.notify_one();
    }
  }

  const int count_, spins_;
  alignas(64) std::atomic<uint32_t> round_{0};  // each parallel_for is a round; workers wait for the next one
  alignas(64) std::atomic<int> pending_{0};     // workers that have not finished this round
  std::atomic<bool> stop_{false};
  void (*body_)(void*, int32_t) = nullptr;
  void* context_ = nullptr;
  int32_t size_ = 0;
  std::unique_ptr<std::thread[]> workers_;
};

}  // namespace onnxc
