// What a shared library made with `--emit=shared --threads N` exports beside its model: threads for callers in other languages.
//
// Include it in one translation unit of the library.
#pragma once
#include <new>

#include "threads.hpp"

namespace onnxc {
struct SharedExecutor : onnxc_executor {
  explicit SharedExecutor(int thread_count) : pool(thread_count) { static_cast<onnxc_executor&>(*this) = pool.executor(); }
  ThreadPool pool;
};
}  // namespace onnxc

/// An executor for onnxc_call, for one call at a time; null without memory.
extern "C" __attribute__((visibility("default"))) const onnxc_executor* onnxc_executor_new(int32_t threads) {
  return new (std::nothrow) onnxc::SharedExecutor(threads);
}

/// Ends the threads. `executor` comes from onnxc_executor_new, or is null.
extern "C" __attribute__((visibility("default"))) void onnxc_executor_delete(const onnxc_executor* executor) {
  delete static_cast<const onnxc::SharedExecutor*>(executor);
}
