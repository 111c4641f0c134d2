// A unit as onnxc would emit it, of fixed or of symbolic sizes: session.cpp runs it, tests/gpu/words.sh has nvcc compile it.
#pragma once
#include <onnxc/gpu/session.hpp>

#include <atomic>

namespace onnxc::test {

using namespace onnxc::gpu;

inline constexpr float kEndsTheGpu = 1e30f;
/// h[i] = x[i] * w[i % 4]. A negative x has no result.
struct Scale {
  static constexpr int kThreads = 64;
  struct Shared {};
  float* h;
  const float *x, *w;
  unsigned* status;
  int n;

  ONNXC_DEVICE void operator()(Shared&) const {
    const int i = block().x * kThreads + thread();
    if (i >= n) return;
    if (x[i] < 0) fetch_max(status, ONNXC_INDEX_OUT_OF_RANGE);
#if !defined(__CUDACC__)
    if (x[i] == kEndsTheGpu) emulator::settings().failed = "an illegal memory access was encountered";
#endif
    h[i] = x[i] * w[i % 4];
  }
};

/// y[0] = the sum of h by blocks, in their order.
struct Total {
  static constexpr int kThreads = 64;
  struct Shared {
    float partial[kThreads / 32];
    unsigned ticket;
  };
  float *y, *parts;
  const float* h;
  unsigned* ticket;
  int n;

  ONNXC_DEVICE void operator()(Shared& shared) const {
    const int i = block().x * kThreads + thread();
    const float sum = reduce_block<kThreads>(i < n ? h[i] : 0.0f, 0.0f, shared.partial, [](float a, float b) { return a + b; });
    if (thread() == 0) {
      parts[block().x] = sum;
      fence();
      shared.ticket = fetch_add(ticket, 1);
    }
    sync_block();
    if (shared.ticket != static_cast<unsigned>(blocks().x - 1) || thread() != 0) return;
    fence();
    float total = 0;
    for (int b = 0; b < blocks().x; ++b) total += parts[b];
    *y = total;
    *ticket = 0;
  }
};

inline std::atomic<int> enqueued = 0;
inline std::atomic<int> too_many_blocks = 1;  // for the launch that is refused
inline constexpr float kWeights[4] = {0.5f, 0.25f, 3.0f, 0.1f};

static Status enqueue_steps(int n, const Arguments& a, const DeviceMemory& memory, Stream stream) {
  ++enqueued;
  Queue queue(stream, memory.words);
  float* const h = at<float>(memory.arena, 0);
  const int blocks = (n + 63) / 64;
  launch(queue, Scale{h, static_cast<const float*>(a.inputs[0]), at<float>(memory.weights, 0), queue.status(), n}, {blocks, 1, 1});
  queue.copy(a.outputs[1], h, static_cast<std::size_t>(n) * 4);
  launch(queue, Total{static_cast<float*>(a.outputs[0]), h + (n + 63) / 64 * 64, h, queue.tickets(), n}, {blocks, too_many_blocks, 1});
  return queue.result();
}

inline Status sizes_of(int n, UnitSizes& to) {
  const auto count = static_cast<std::size_t>(n);
  to.inputs[0] = count * 4;
  to.outputs[0] = 4;
  to.outputs[1] = count * 4;
  to.arena = (count + 63) / 64 * 65 * 4;
  return {};
}

inline std::span<const std::byte> weights_of_unit() noexcept { return std::as_bytes(std::span(kWeights)); }

inline constexpr int kFixed = 1000;
static Unit fixed_unit() {
  Unit u{.inputs = 1, .outputs = 2, .words = 2, .weights = weights_of_unit};
  u.sizes = [](const int64_t*, UnitSizes& to) noexcept { return sizes_of(kFixed, to); };
  u.enqueue = [](const Arguments& a, const DeviceMemory& memory, Stream stream) noexcept {
    return enqueue_steps(kFixed, a, memory, stream);
  };
  return u;
}
static Unit dynamic_unit() {
  Unit u{.inputs = 1, .outputs = 2, .symbols = 1, .words = 2, .weights = weights_of_unit};
  u.sizes = [](const int64_t* symbols, UnitSizes& to) noexcept {
    if (symbols[0] < 1 || symbols[0] > 1 << 20) return Status{ONNXC_BAD_DIMENSION};
    return sizes_of(static_cast<int>(symbols[0]), to);
  };
  u.enqueue = [](const Arguments& a, const DeviceMemory& memory, Stream stream) noexcept {
    return enqueue_steps(static_cast<int>(a.symbols[0]), a, memory, stream);
  };
  return u;
}

}  // namespace onnxc::test
