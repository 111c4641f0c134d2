#include "tools/kernel_bench/suite.h"

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>

#include "targets/target.h"

namespace onnxc::inline ONNXC_ISA::bench {

void* BlockHeap::take(void* self, std::size_t bytes) {
  auto& heap = *static_cast<BlockHeap*>(self);
  const std::size_t whole = (bytes + 63) / 64 * 64;
  if (whole > static_cast<std::size_t>(heap.end_ - heap.next_)) return nullptr;
  return std::exchange(heap.next_, heap.next_ + whole);
}

std::byte* Data::take(std::size_t bytes) {
  const std::size_t whole = (bytes + 64) / 64 * 64;
  auto* const block = static_cast<std::byte*>(std::aligned_alloc(64, whole));
  if (block == nullptr) throw std::bad_alloc();
  std::memset(block, 0, whole);
  blocks_.emplace_back(block);
  bytes_ += bytes;
  return block;
}

float* Data::numbers(int64_t n) {
  float* const values = room<float>(n);
  uint32_t state = 12345;
  for (int64_t i = 0; i < n; ++i) {
    state = state * 1664525u + 1013904223u;
    values[i] = float(int32_t(state)) / 2147483648.0f;
  }
  return values;
}

Tensor<const onnxc_string> Data::words(Shape shape, std::initializer_list<const char*> from) {
  auto* const strings = room<onnxc_string>(shape.count());
  for (int64_t i = 0; i < shape.count(); ++i) {
    const char* const word = from.begin()[static_cast<std::size_t>(i) % from.size()];
    strings[i] = {word, std::strlen(word)};
  }
  return {strings, shape};
}

WeightStream& Data::stream(const std::vector<float>& weights) {
  constexpr std::size_t kStreamed = std::size_t{64} << 20, kMostCopies = 1024;
  const std::size_t size = (weights.size() + 15) / 16 * 16,
                    copies = std::min(kMostCopies, kStreamed / (4 * std::max<std::size_t>(size, 1)) + 2);
  const std::size_t before = bytes_;
  auto* const all = room<float>(static_cast<int64_t>(size * copies));
  for (std::size_t i = 0; i < copies; ++i) std::copy(weights.begin(), weights.end(), all + i * size);
  bytes_ = before + 4 * weights.size();
  streams_.push_back(std::make_unique<WeightStream>(all, static_cast<int64_t>(size), static_cast<int64_t>(copies)));
  return *streams_.back();
}

BlockHeap& Data::heap(std::size_t bytes) {
  const std::size_t before = bytes_;
  heaps_.push_back(std::make_unique<BlockHeap>(take(bytes), bytes));
  bytes_ = before;
  return *heaps_.back();
}

onnxc_value* Data::tensor_value(int64_t n) {
  auto* const value = room<onnxc_value>(1);
  make_tensor(value, 1, numbers(n), {n});
  return value;
}

onnxc_value* Data::sequence_value(int64_t count, int64_t n) {
  auto *const sequence = room<onnxc_value>(1), *const items = room<onnxc_value>(count);
  for (int64_t i = 0; i < count; ++i) items[i] = *tensor_value(n);
  *sequence = {ONNXC_SEQUENCE, 0, 0, count, items, {}};
  return sequence;
}

void Suite::note(std::string_view row) { rows_.insert(std::string(find_kernel(row).name)); }

void Suite::skip(std::string_view row, const char* why) {
  note(row);
  benchmark::RegisterBenchmark(std::string(row).c_str(), [why](benchmark::State& state) { state.SkipWithError(why); });
}

std::vector<std::string> Suite::missing() const {
  std::vector<std::string> names;
  for (const Kernel& kernel : all_kernels()) {
    const bool is_timed = !kernel.function.empty() && kernel.runs_on != RunsOn::Gpu;  // no function: it is the user's
    if (is_timed && !rows_.contains(kernel.name)) names.emplace_back(kernel.name);
  }
  return names;
}

double Suite::processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

void Suite::report(benchmark::State& state, double seconds, Work work, const Data& data) const {
  const double bytes = work.bytes < 0 ? data.bytes() : work.bytes, calls = double(state.iterations());
  state.counters["macs"] = work.macs;  // bench/fit_costs.py reads it, and `bytes`
  state.counters["bytes"] = bytes;
  if (work.macs > 0) {
    state.counters["GMAC/s"] = 1e-9 * work.macs * calls / seconds;
    state.counters["%peak"] = 100 * work.macs * calls / seconds / peak_;
  }
  if (bytes > 0) state.counters["GB/s"] = 1e-9 * bytes * calls / seconds;
}

}  // namespace onnxc::inline ONNXC_ISA::bench
