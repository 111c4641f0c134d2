// Streams, graphs and events of the emulated GPU. Work of a stream is done as late as it may: when it or an event of it is waited for.
// So what a host reads without having waited is not there yet. Work of the null stream is done at once.
#pragma once
#if !defined(__CUDACC__)
#include <chrono>
#include <functional>
#include <iterator>
#include <memory>
#include <thread>
#include <vector>

#include "memory.hpp"
#include "scheduler.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {

using Stream = cudaStream_t;

namespace emulator {

using Work = std::vector<std::function<void()>>;
/// What a Stream points to.
struct StreamState {
  Work waiting, captured;
  bool capturing = false;
};
inline StreamState& state_of(Stream stream) { return *reinterpret_cast<StreamState*>(stream); }

template <class Do>
Status enqueue(Stream stream, Do work) {
  if (const Status s = ready()) return s;
  if (stream == nullptr) {
    work();
    return ready();
  }
  StreamState& s = state_of(stream);
  (s.capturing ? s.captured : s.waiting).emplace_back(std::move(work));
  return {};
}

/// In any order, or counted z first: blocks that share work often differ in z alone, and meet then.
inline std::vector<int> order_of_blocks(Index grid, unsigned seed) {
  std::vector<int> order;
  for (int x = 0; x < grid.x; ++x) {
    for (int y = 0; y < grid.y; ++y) {
      for (int z = 0; z < grid.z; ++z) order.push_back((z * grid.y + y) * grid.x + x);
    }
  }
  Random random{seed * 2654435761u};
  if (random.draw(2) == 0) return order;
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.draw(static_cast<uint32_t>(i))]);
  return order;
}

template <class Kernel>
void run_kernel(const Kernel& kernel, Index grid) {
  Run run{&kernel, nullptr, Kernel::kThreads, sizeof(typename Kernel::Shared), grid, {}};
  run.body = [](const void* k, std::byte* shared) {
    (*static_cast<const Kernel*>(k))(*reinterpret_cast<typename Kernel::Shared*>(shared));
  };
  const std::size_t count = static_cast<std::size_t>(grid.x) * static_cast<std::size_t>(grid.y) * static_cast<std::size_t>(grid.z);
  if (settings().seed != 0) run.order = order_of_blocks(grid, settings().seed);
  watch_accesses();
  const std::size_t workers = std::min(static_cast<std::size_t>(std::max(settings().workers, 1)), count);
  std::vector<std::thread> others;
  for (std::size_t w = 1; w < workers; ++w) {
    others.emplace_back([&run, count, workers, w] { run_blocks(run, count * w / workers, count * (w + 1) / workers); });
  }
  run_blocks(run, 0, count / workers);
  for (std::thread& t : others) t.join();
}

}  // namespace emulator

/// Enqueues a grid of blocks. One without blocks is nothing to do.
template <class Kernel>
static Status launch(Stream stream, const Kernel& kernel, Index grid) noexcept {
  static_assert(kIsKernel<Kernel>);
  if (const Status s = emulator::ready()) return s;
  if (grid.x < 0 || grid.y < 0 || grid.z < 0 || grid.y > 65535 || grid.z > 65535)
    return emulator::refused("a grid of more blocks than a GPU takes");
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return {};
  return emulator::enqueue(stream, [kernel, grid] { emulator::run_kernel(kernel, grid); });
}

inline Status open_stream(Stream& stream) noexcept {
  if (const Status s = emulator::ready()) return s;
  stream = reinterpret_cast<Stream>(new emulator::StreamState);
  return {};
}
namespace emulator {

/// Does the work that waits, in order, until `happened()`.
template <class Happened>
Status work_until(Stream stream, Happened happened) {
  if (stream == nullptr) return ready();
  StreamState& s = state_of(stream);
  if (s.capturing) return refused("a stream whose work is captured cannot be waited for");
  Work work = std::move(s.waiting);
  s.waiting.clear();
  std::size_t done = 0;
  for (; done < work.size() && !happened(); ++done) {
    if (const Status failed = ready()) return failed;
    work[done]();
  }
  s.waiting.assign(std::make_move_iterator(work.begin() + static_cast<std::ptrdiff_t>(done)), std::make_move_iterator(work.end()));
  return ready();
}

}  // namespace emulator

/// Waits for all work of the stream.
inline Status finish(Stream stream) noexcept {
  return stream == nullptr ? Status{} : emulator::work_until(stream, [] { return false; });
}
inline void close_stream(Stream stream) noexcept {
  if (stream == nullptr) return;
  (void)finish(stream);
  delete &emulator::state_of(stream);
}

inline Status copy(Stream stream, void* to, const void* from, std::size_t bytes) noexcept {
  if (bytes == 0) return {};
  return emulator::enqueue(stream, [=] { std::memcpy(to, from, bytes); });
}
inline Status to_device(Stream stream, void* to, const void* from, std::size_t bytes) noexcept { return copy(stream, to, from, bytes); }
inline Status to_host(Stream stream, void* to, const void* from, std::size_t bytes) noexcept { return copy(stream, to, from, bytes); }
inline Status clear(Stream stream, void* p, std::size_t bytes) noexcept {
  if (bytes == 0) return {};
  return emulator::enqueue(stream, [=] { std::memset(p, 0, bytes); });
}

/// Work of a stream, noted down once and launched as one.
class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// From here on, the stream's work is noted down in the place of being done.
  Status begin(Stream stream) noexcept {
    if (stream == nullptr || emulator::state_of(stream).capturing) return emulator::refused("a stream whose work cannot be captured");
    emulator::state_of(stream).capturing = true;
    return {};
  }
  /// Must follow `begin`, whatever happened in between.
  Status end(Stream stream) noexcept {
    emulator::StreamState& s = emulator::state_of(stream);
    work_ = std::make_shared<const emulator::Work>(std::move(s.captured));
    s.captured.clear();
    s.capturing = false;
    return {};
  }
  bool ready() const noexcept { return work_ != nullptr; }
  Status launch(Stream stream) noexcept {
    return emulator::enqueue(stream, [work = work_] {
      for (const auto& piece : *work) {
        if (!emulator::ready()) piece();
      }
    });
  }
  void reset() noexcept { work_ = nullptr; }

 private:
  std::shared_ptr<const emulator::Work> work_;
};

/// A moment in a stream's work.
class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  Status record(Stream stream) noexcept {
    stream_ = stream;
    time_ = std::make_shared<Clock::time_point>();
    return emulator::enqueue(stream, [time = time_] { *time = Clock::now(); });
  }
  /// Until what was recorded last has happened, and so all before it in its stream.
  Status wait() const noexcept {
    return emulator::work_until(stream_, [this] { return has_happened(); });
  }
  /// From `first` to `last`, both of which have happened.
  friend Status elapsed_ms(const Event& first, const Event& last, float& ms) noexcept {
    if (!first.has_happened() || !last.has_happened()) return emulator::refused("an event that has not happened");
    ms = std::chrono::duration<float, std::milli>(*last.time_ - *first.time_).count();
    return {};
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool has_happened() const { return time_ != nullptr && *time_ != Clock::time_point{}; }
  std::shared_ptr<Clock::time_point> time_;
  Stream stream_ = nullptr;
};

}  // namespace onnxc::gpu
#endif
