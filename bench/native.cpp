// What the comparison of engines needs beyond Python, as a library: calls without Python's cost for each, the machine's peak, and how near its processors are to each other.
#include <onnxc/model.h>
#include <onnxc/fma_peak.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

/// f32 multiply-adds a second that `threads` threads reach together; takes `seconds`.
extern "C" double onnxc_bench_fma_peak(int32_t threads, double seconds) {
  std::vector<double> rates(static_cast<std::size_t>(std::max(threads, 1)));
  std::vector<std::thread> others;
  for (std::size_t t = 1; t < rates.size(); ++t) others.emplace_back([&, t] { rates[t] = onnxc::bench::fma_peak(seconds); });
  rates[0] = onnxc::bench::fma_peak(seconds);
  for (std::thread& other : others) other.join();
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

/// Seconds that a cache line takes from one of two threads to the other, the quickest of some rounds.
extern "C" double onnxc_bench_handover() {
  constexpr int kRounds = 20, kTurns = 2000;
  struct alignas(64) Line {
    std::atomic<int> turn{0};
  } line;
  const auto play = [&line](int first, int end) {
    for (int i = first; i < end; i += 2) {
      while (line.turn.load(std::memory_order_acquire) != i) {
      }
      line.turn.store(i + 1, std::memory_order_release);
    }
  };
  std::thread other(play, 1, 2 * kRounds * kTurns);
  double best = 1;
  for (int round = 0; round < kRounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    play(2 * round * kTurns, 2 * (round + 1) * kTurns);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count() / (2 * kTurns));
  }
  other.join();
  return best;
}

/// The first status that is not 0.
extern "C" int32_t onnxc_bench_loop(int32_t (*run)(const onnxc_call*), const onnxc_call* call, int64_t calls) {
  for (int64_t i = 0; i < calls; ++i) {
    if (const int32_t status = run(call); status != 0) return status;
  }
  return 0;
}
