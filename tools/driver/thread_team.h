// Threads for `run` and `bench`: an onnxc_executor whose workers spin for a moment before they sleep.
#pragma once
#include <onnxc/model.h>

#include <atomic>
#include <thread>
#include <vector>

namespace onnxc {

class ThreadTeam {
 public:
  /// The calling thread is one of them.
  explicit ThreadTeam(int threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  /// Null for one thread: then the unit runs alone.
  const onnxc_executor* executor() const { return threads_.empty() ? nullptr : &executor_; }

 private:
  void work(int worker);
  void run_share(int worker);
  static void parallel_for(void* self, int32_t count, void (*body)(void*, int32_t), void* context);

  onnxc_executor executor_;
  std::atomic<uint32_t> round_ = 0;  // odd or even says nothing; a change says that there is work
  std::atomic<int> busy_ = 0;
  bool stop_ = false;
  int32_t count_ = 0;
  void (*body_)(void*, int32_t) = nullptr;
  void* context_ = nullptr;
  std::vector<std::jthread> threads_;
};

}  // namespace onnxc
