// What the kernel tests share: reproducible numbers, guarded memory, tolerance.
#pragma once
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

#include <onnxc/expr.hpp>
#include <onnxc/fn.hpp>

namespace onnxc::test {

/// Values in (-1, 1) that depend on the seed alone.
inline std::vector<float> numbers(int64_t n, uint32_t seed = 1) {
  std::vector<float> v(static_cast<size_t>(n));
  uint32_t state = seed * 2654435761u + 12345u;
  for (float& x : v) {
    state = state * 1664525u + 1013904223u;
    x = float(int32_t(state)) / 2147483648.0f;
  }
  return v;
}

constexpr float kGuard = 1234567.0f;

/// A lane fewer than a vector has, and at least one.
constexpr int kPartLanes = kVectorFloats > 1 ? kVectorFloats - 1 : 1;

/// For cases of tiles whose last vector holds pairs, which need two lanes.
constexpr bool kHasPairs = kVectorFloats > 1;

/// The largest error of a sum of n products of numbers in (-1, 1) computed in float in any order.
inline double sum_tolerance(int64_t n) { return 6e-8 * double(n + 2) * std::sqrt(double(n + 2)); }

/// A copy whose first element lies at an odd multiple of 4 bytes. The allocation has exactly its size, so sanitizers
/// see every access beyond it.
struct Unaligned {
  std::vector<float> memory;
  explicit Unaligned(const std::vector<float>& v) : memory(v.size() + 1) {
    for (size_t i = 0; i < v.size(); ++i) memory[i + 1] = v[i];
  }
  const float* data() const { return memory.data() + 1; }
};

/// 64-byte aligned copy, followed by kMore bytes: weights.
template <class T, size_t kMore = 0>
struct AlignedCopy {
  T* p;
  explicit AlignedCopy(const std::vector<T>& v)
      : p(static_cast<T*>(std::aligned_alloc(64, (v.size() * sizeof(T) + kMore + 63) / 64 * 64))) {
    std::copy(v.begin(), v.end(), p);
  }
  ~AlignedCopy() { std::free(p); }
  AlignedCopy(const AlignedCopy&) = delete;
  AlignedCopy& operator=(const AlignedCopy&) = delete;
  operator const T*() const { return p; }
};
using Aligned = AlignedCopy<float, 4096>;

/// Scratch memory for a kernel's threads: `floats` floats for each, 64-byte aligned. The destructor checks that nothing
/// was written before or after them.
class Scratch {
 public:
  Scratch(int64_t threads, int64_t floats, float fill = kGuard)
      : threads_(threads),
        floats_(floats),
        step_((floats + 15) / 16 * 16 + kGuards),
        memory_(std::vector<float>(size_t(kGuards + threads * step_), kGuard)) {
    for (int64_t thread = 0; thread < threads; ++thread) std::fill_n(of(thread), floats, fill);
  }
  ~Scratch() { CHECK(overwritten() == 0); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  float* of(int64_t thread) const { return memory_.p + kGuards + thread * step_; }

 private:
  static constexpr int64_t kGuards = 64;

  int64_t overwritten() const {
    int64_t count = std::count_if(memory_.p, of(0), [](float x) { return x != kGuard; });
    for (int64_t thread = 0; thread < threads_; ++thread)
      count += std::count_if(of(thread) + floats_, of(thread) + step_, [](float x) { return x != kGuard; });
    return count;
  }

  int64_t threads_, floats_, step_;
  Aligned memory_;
};

/// relu(acc + x)
struct AddRelu {
  template <class L, class X0, class X1>
  static ONNXC_INLINE auto apply(L lanes, X0 x0, X1 x1) {
    return fn::max(fn::add(x0, x1), lanes(0.0f));
  }
};

}  // namespace onnxc::test
