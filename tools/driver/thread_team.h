// The runtime's threads in the form of the C ABI.
#pragma once
#include <onnxc/threads.hpp>

namespace onnxc {

class ThreadTeam {
 public:
  /// The calling thread is one of them.
  explicit ThreadTeam(int threads) : threads_(threads), executor_(threads_.executor()) {}

  /// Null for one thread: the unit then runs without an executor.
  const onnxc_executor* executor() const { return threads_.count() > 1 ? &executor_ : nullptr; }

 private:
  ThreadPool threads_;
  onnxc_executor executor_;
};

}  // namespace onnxc
