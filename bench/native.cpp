// What the comparison of engines needs beyond Python, as a library: calls without Python's cost for each, and the machine's peak.
#include <onnxc/model.h>

#include <onnxc/vec.hpp>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

/// `rounds` rounds of independent multiply-adds in registers: the latency of 4 cycles times two units needs 8 of them at once, and 12 leave
/// registers for the operands on machines that have 16. The result depends on all, so that none is left out.
constexpr int kChains = 12;
float multiply_add(int64_t rounds) {
  const onnxc::Vec a = onnxc::Vec::all(0.999f), b = onnxc::Vec::all(0.001f);
  onnxc::Vec chains[kChains];
  ONNXC_UNROLL for (int c = 0; c < kChains; ++c) chains[c] = onnxc::Vec::all(float(c));
  for (int64_t i = 0; i < rounds; ++i) {
    ONNXC_UNROLL for (int c = 0; c < kChains; ++c) chains[c] = fma(chains[c], a, b);
  }
  onnxc::Vec total = chains[0];
  ONNXC_UNROLL for (int c = 1; c < kChains; ++c) total = total + chains[c];
  return sum(total);
}

/// Multiply-adds a second of the calling thread: the best block of about a millisecond.
double best_rate(double seconds) {
  constexpr int64_t kRounds = 400'000;
  constexpr double kMacs = double(kRounds) * kChains * onnxc::Vec::width;
  double best = 0;
  volatile float sink = 0;
  for (const auto end = Clock::now() + std::chrono::duration<double>(seconds); Clock::now() < end;) {
    const auto begin = Clock::now();
    sink = sink + multiply_add(kRounds);
    best = std::max(best, kMacs / std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return best;
}

}  // namespace

/// f32 multiply-adds a second that `threads` threads reach together, without touching memory; takes `seconds`.
extern "C" double onnxc_bench_fma_peak(int32_t threads, double seconds) {
  std::vector<double> rates(static_cast<std::size_t>(std::max(threads, 1)));
  std::vector<std::thread> others;
  for (std::size_t t = 1; t < rates.size(); ++t) others.emplace_back([&, t] { rates[t] = best_rate(seconds); });
  rates[0] = best_rate(seconds);
  for (std::thread& other : others) other.join();
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

/// The first status that is not 0.
extern "C" int32_t onnxc_bench_loop(int32_t (*run)(const onnxc_call*), const onnxc_call* call, int64_t calls) {
  for (int64_t i = 0; i < calls; ++i) {
    if (const int32_t status = run(call); status != 0) return status;
  }
  return 0;
}
