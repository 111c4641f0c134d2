// What the comparison of engines needs beyond Python, as a library: calls without Python's cost for each, the machine's peak, and how near its processors are to each other.
#include <onnxc/model.h>
#include <onnxc/fma_peak.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
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

namespace {

/// Bytes a second at which one thread reads the words again and again, the quickest of the rounds that fit into `seconds`.
double reading(const std::vector<std::uint64_t>& words, double seconds) {
  constexpr std::size_t kChains = 32;  // independent sums: enough that no addition waits for a load
  double best = 0;
  std::uint64_t kept = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (auto begin = std::chrono::steady_clock::now(); begin < end; begin = std::chrono::steady_clock::now()) {
    std::uint64_t sums[kChains] = {};
    for (std::size_t i = 0; i + kChains <= words.size(); i += kChains)
      for (std::size_t k = 0; k < kChains; ++k) sums[k] += words[i + k];
    for (const std::uint64_t sum : sums) kept += sum;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    best = std::max(best, static_cast<double>(words.size() * sizeof(std::uint64_t)) / took.count());
  }
  asm volatile("" : : "r"(kept));  // the sums are wanted
  return best;
}

}  // namespace

/// Bytes a second at which `threads` threads together read `size` bytes, each its share, again and again.
extern "C" double onnxc_bench_reading(int32_t threads, int64_t size, double seconds) {
  std::vector<double> rates(static_cast<std::size_t>(std::max(threads, 1)));
  std::vector<std::thread> others;
  const auto read = [&](std::size_t t) {
    rates[t] = reading(std::vector<std::uint64_t>(static_cast<std::size_t>(size) / 8 / rates.size(), t), seconds);
  };
  for (std::size_t t = 1; t < rates.size(); ++t) others.emplace_back(read, t);
  read(0);
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

// ---- Different rows for each call. There are `batches` of them one behind the other, *next says whose turn it is.

/// As above. Input k of a batch takes sizes[k] bytes, and those of the first one lie at bases[k].
extern "C" int32_t onnxc_bench_rotate(int32_t (*run)(const onnxc_call*), const onnxc_call* call, int32_t inputs, const char* const* bases,
                                      const int64_t* sizes, int64_t batches, int64_t* next, int64_t calls) {
  std::vector<const void*> pointers(static_cast<std::size_t>(inputs));
  onnxc_call moved = *call;
  moved.inputs = pointers.data();
  for (int64_t i = 0; i < calls; ++i) {
    for (int32_t k = 0; k < inputs; ++k) pointers[static_cast<std::size_t>(k)] = bases[k] + *next * sizes[k];
    *next = *next + 1 < batches ? *next + 1 : 0;
    if (const int32_t status = run(&moved); status != 0) return status;
  }
  return 0;
}

/// A function of LightGBM for one row: the data is its second argument.
extern "C" int32_t onnxc_bench_rotate_lightgbm(int32_t (*predict)(void*, const void*, int64_t*, double*), void* config, const char* data,
                                               int64_t size, double* results, int64_t batches, int64_t* next, int64_t calls) {
  int64_t written = 0;
  for (int64_t i = 0; i < calls; ++i) {
    const char* const batch = data + *next * size;
    *next = *next + 1 < batches ? *next + 1 : 0;
    if (const int32_t status = predict(config, batch, &written, results); status != 0) return status;
  }
  return 0;
}

/// The function that lleaves compiles: rows [0, rows) of the data.
extern "C" void onnxc_bench_rotate_lleaves(void (*predict)(const void*, double*, int32_t, int32_t), const char* data, int64_t size,
                                           int32_t rows, double* results, int64_t batches, int64_t* next, int64_t calls) {
  for (int64_t i = 0; i < calls; ++i) {
    predict(data + *next * size, results, 0, rows);
    *next = *next + 1 < batches ? *next + 1 : 0;
  }
}

/// The function that tl2cgen compiles: it adds the trees for one row to the result.
extern "C" void onnxc_bench_rotate_tl2cgen(void (*predict)(const void*, int32_t, void*), const char* data, int64_t row_bytes, int64_t rows,
                                           char* results, int64_t result_bytes, int64_t batches, int64_t* next, int64_t calls) {
  for (int64_t i = 0; i < calls; ++i) {
    const char* const batch = data + *next * rows * row_bytes;
    std::memset(results, 0, static_cast<std::size_t>(rows * result_bytes));
    for (int64_t r = 0; r < rows; ++r) predict(batch + r * row_bytes, 0, results + r * result_bytes);
    *next = *next + 1 < batches ? *next + 1 : 0;
  }
}
