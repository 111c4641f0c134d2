// Reference kernels on a GPU: those of the CPU, unchanged. They take a Share, which is what one thread has of a step, so
// a thread of a GPU is a Share. With as many of them as there are items of work, thread i computes item i, and neighbours
// touch neighbours. A step that CPU threads share and the same step on a GPU differ in little:
//
//   threads.run([&](onnxc::Share share) { onnxc::scalar::lp_pool(share, ...); });
//   onnxc::gpu::each(gpu, 200704, [=] ONNXC_LAMBDA(onnxc::Share share) { return onnxc::scalar::lp_pool(share, ...); });
//
// A kernel that cannot be divided has one item. What `work` captures is copied to the device.
#pragma once
#include <type_traits>

#include "index.hpp"
#include "queue.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {

/// work(Share{i, items}) for each i in [0, items). The code of a Status that it returns goes to *status: the largest one
/// of all, so that it does not depend on time.
template <class Work>
struct Each {
  static constexpr int kThreads = 128;
  struct Shared {};
  int items;
  unsigned* status;
  Work work;

  ONNXC_DEVICE void operator()(Shared&) const {
    const int step = blocks().x * kThreads;
    for (int64_t i = block().x * kThreads + thread(); i < items; i += step) {
      const Share share{static_cast<int>(i), items};
      if constexpr (std::is_void_v<decltype(work(share))>) {
        work(share);
      } else if (const Status s = work(share)) {
        fetch_max(status, static_cast<unsigned>(s.code));
      }
    }
  }
};

/// Enqueues that. More than 2^30 items are as many shares, of which each has several.
template <class Work>
static void each(Queue& queue, int64_t items, Work work) noexcept {
  constexpr int64_t kMost = int64_t{1} << 30;
  const int64_t shares = max_of(0, min_of(items, kMost));
  launch(queue, Each<Work>{static_cast<int>(shares), queue.status(), work}, grid_for(shares, Each<Work>::kThreads));
}

}  // namespace onnxc::gpu
