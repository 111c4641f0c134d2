// What the comparison of engines needs beyond Python, as a library: calls without Python's cost for each, and the machine's peak.
#include <onnxc/fma_peak.hpp>
#include <onnxc/model.h>

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

/// The first status that is not 0.
extern "C" int32_t onnxc_bench_loop(int32_t (*run)(const onnxc_call*), const onnxc_call* call, int64_t calls) {
  for (int64_t i = 0; i < calls; ++i) {
    if (const int32_t status = run(call); status != 0) return status;
  }
  return 0;
}
