// How a row of the kernel catalogue gets its benchmark: a name, a shape, and a function that creates operands and
// returns the call.
//
//   suite.add("softmax", "1536x128", [](Data& d) {
//     return [x = d.numbers(1536 * 128), y = d.room(1536 * 128)] {
//       softmax({}, x, y, {.rows = 1536, .n = 128, .x_row = 128, .y_row = 128});
//     };
//   });
//
// Operands are created when the benchmark runs and freed afterwards. A call that returns a Status must succeed.
#pragma once
#include <benchmark/benchmark.h>

#include <functional>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <onnxc/heap.hpp>

namespace onnxc::inline ONNXC_ISA::bench {

/// A heap whose blocks last until the next call: an allocation by a kernel costs one addition.
class BlockHeap {
 public:
  BlockHeap(std::byte* memory, std::size_t size) : begin_(memory), end_(memory + size), next_(memory) {}
  /// Frees everything.
  Heap fresh() {
    next_ = begin_;
    return {&allocator_};
  }

 private:
  static void* take(void* self, std::size_t bytes);
  std::byte *begin_, *end_, *next_;
  onnxc_allocator allocator_{this, take, [](void*, void*) {}};
};

/// Weights that come from beyond L2, as in a model, where each layer reads its own weights once in a run: copies of
/// 64 MiB in total are used in turn.
class WeightStream {
 public:
  WeightStream(const float* first, int64_t floats, int64_t copies) : first_(first), floats_(floats), copies_(copies) {}
  const float* next() {
    at_ = at_ + 1 < copies_ ? at_ + 1 : 0;
    return first_ + at_ * floats_;
  }

 private:
  const float* first_;
  int64_t floats_, copies_, at_ = 0;
};

/// The operands of one benchmark; all memory is aligned to 64 bytes.
class Data {
 public:
  /// n zeros.
  template <class T = float>
  T* room(int64_t n) {
    return reinterpret_cast<T*>(take(static_cast<std::size_t>(n) * sizeof(T)));  // NOLINT: T may be a pointer
  }
  /// n values in (-1, 1), always the same.
  float* numbers(int64_t n);
  /// 0, 1, ..., limit - 1, 0, 1, ...
  template <class T = int64_t>
  T* counting(int64_t n, int64_t limit) {
    T* const values = room<T>(n);
    for (int64_t i = 0; i < n; ++i) values[i] = static_cast<T>(i % limit);
    return values;
  }
  template <class T>
  T* copy(const std::vector<T>& values) {
    T* const all = room<T>(static_cast<int64_t>(values.size()));
    std::copy(values.begin(), values.end(), all);
    return all;
  }
  template <class T>
  T* list(std::initializer_list<T> values) {
    return copy(std::vector<T>(values));
  }
  /// The same as tensors.
  Tensor<const float> in(Shape shape) { return {numbers(shape.count()), shape}; }
  template <class T = float>
  Tensor<T> out(Shape shape) {
    return {room<T>(shape.count()), shape};
  }
  template <class T = int64_t>
  Tensor<const T> indices(Shape shape, int64_t limit) {
    return {counting<T>(shape.count(), limit), shape};
  }
  /// Words of a language, or numbers as decimals.
  Tensor<const onnxc_string> words(Shape shape, std::initializer_list<const char*> from = {"the", "quick brown", "Fox", "jumps over",
                                                                                           "a lazy", "dog, again"});

  WeightStream& stream(const std::vector<float>& weights);
  BlockHeap& heap(std::size_t bytes = 1 << 20);
  /// A value with a tensor of f32, [n], and a sequence of `count` of these.
  onnxc_value* tensor_value(int64_t n);
  onnxc_value* sequence_value(int64_t count, int64_t n);

  /// The bytes of all operands.
  double bytes() const { return static_cast<double>(bytes_); }

 private:
  struct Free {
    void operator()(void* block) const { std::free(block); }
  };
  std::byte* take(std::size_t bytes);

  std::vector<std::unique_ptr<std::byte, Free>> blocks_;
  std::vector<std::unique_ptr<WeightStream>> streams_;
  std::vector<std::unique_ptr<BlockHeap>> heaps_;
  std::size_t bytes_ = 0;
};

/// The work of one call, as the operator that chooses the row states it to KernelQuery::consider. `bytes` below 0:
/// all operands.
struct Work {
  double macs = 0, bytes = -1;
};

class Suite {
 public:
  /// `peak`: the machine's multiply-adds per second.
  explicit Suite(double peak) : peak_(peak) {}

  /// A benchmark `row/shape`. `row` must be in the catalogue. setup(Data&) returns the call.
  template <class Setup>
  void add(std::string_view row, std::string_view shape, Work work, Setup setup) {
    note(row);
    const std::string name = std::string(row) + "/" + std::string(shape);
    benchmark::RegisterBenchmark(name.c_str(), [this, work, setup](benchmark::State& state) {
      Data data;
      const auto call = setup(data);
      if constexpr (std::is_same_v<decltype(call()), Status>) {
        if (const Status status = call()) return state.SkipWithError(describe(status));
      }
      const double begin = processor_seconds();
      for (auto _ : state) {
        static_cast<void>(call());
        benchmark::ClobberMemory();
      }
      report(state, processor_seconds() - begin, work, data);
    });
  }
  template <class Setup>
  void add(std::string_view row, std::string_view shape, Setup setup) {
    add(row, shape, Work{}, setup);
  }

  /// A benchmark that states why it cannot run.
  void skip(std::string_view row, const char* why);

  /// The rows of the catalogue, but for those of GPUs, without a benchmark.
  std::vector<std::string> missing() const;

 private:
  void note(std::string_view row);
  static double processor_seconds();
  void report(benchmark::State& state, double seconds, Work work, const Data& data) const;

  double peak_;
  std::set<std::string, std::less<>> rows_;
};

// One function for each file of targets/kernels.
void add_elementwise(Suite& suite);
void add_columns(Suite& suite);  // of linear.inc, for microcontrollers
void add_image(Suite& suite);
void add_linear(Suite& suite);
void add_convolutions(Suite& suite);  // of linear.inc
void add_ml(Suite& suite);
void add_movement(Suite& suite);
void add_pool(Suite& suite);
void add_recurrent(Suite& suite);
void add_reduce(Suite& suite);
void add_scalar(Suite& suite);
void add_sequence(Suite& suite);
void add_signal(Suite& suite);
void add_text(Suite& suite);

}  // namespace onnxc::inline ONNXC_ISA::bench
