#include "tools/driver/thread_team.h"

namespace onnxc {
namespace {

constexpr int kSpins = 20'000;  // some 50 us

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

ThreadTeam::ThreadTeam(int threads) : executor_{threads, this, &ThreadTeam::parallel_for} {
  for (int worker = 1; worker < threads; ++worker) threads_.emplace_back([this, worker] { work(worker); });
}

ThreadTeam::~ThreadTeam() {
  stop_ = true;
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
}

void ThreadTeam::run_share(int worker) {
  for (int32_t i = worker; i < count_; i += executor_.threads) body_(context_, i);
}

void ThreadTeam::work(int worker) {
  for (uint32_t seen = 0;;) {
    for (int spin = 0; spin < kSpins && round_.load(std::memory_order_acquire) == seen; ++spin) relax();
    round_.wait(seen, std::memory_order_acquire);
    ++seen;  // a round begins only when all workers have ended the one before
    if (stop_) return;
    run_share(worker);
    busy_.fetch_sub(1, std::memory_order_release);
  }
}

void ThreadTeam::parallel_for(void* self, int32_t count, void (*body)(void*, int32_t), void* context) {
  auto& team = *static_cast<ThreadTeam*>(self);
  team.count_ = count;
  team.body_ = body;
  team.context_ = context;
  team.busy_.store(static_cast<int>(team.threads_.size()), std::memory_order_relaxed);
  team.round_.fetch_add(1, std::memory_order_release);
  team.round_.notify_all();
  team.run_share(0);
  while (team.busy_.load(std::memory_order_acquire) != 0) relax();
}

}  // namespace onnxc
