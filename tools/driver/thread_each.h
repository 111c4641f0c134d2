// An executor for the thread sanitizer: a thread of its own for each index.
//
// A pool's threads may do each other's work, and one that does two shares of a step hides a race between them. Here no two shares of a fork
// are in order, whatever the system schedules, so each race that a run can have is seen in that run.
#pragma once
#include <onnxc/model.h>

#include <thread>
#include <vector>

namespace onnxc {

class ThreadEach {
 public:
  explicit ThreadEach(int threads) : executor_{threads, nullptr, parallel_for} {}
  const onnxc_executor* executor() const { return &executor_; }

 private:
  static void parallel_for(void* /*self*/, int32_t count, void (*body)(void* context, int32_t i), void* context) {
    std::vector<std::jthread> threads;
    for (int32_t i = 0; i < count; ++i) threads.emplace_back(body, context, i);
  }
  onnxc_executor executor_;
};

}  // namespace onnxc
