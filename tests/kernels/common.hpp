// What the kernel tests share: reproducible numbers, guarded memory, tolerance.
#pragma once
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

/// The largest error of a sum of n products of numbers in (-1, 1) computed in float in any order.
inline double sum_tolerance(int64_t n) { return 6e-8 * double(n + 2) * std::sqrt(double(n + 2)); }

/// A copy whose first element lies at an odd 4-byte offset, in an allocation of exactly its size, so that sanitizers see each byte beyond it.
struct Unaligned {
  std::vector<float> memory;
  explicit Unaligned(const std::vector<float>& v) : memory(v.size() + 1) {
    for (size_t i = 0; i < v.size(); ++i) memory[i + 1] = v[i];
  }
  const float* data() const { return memory.data() + 1; }
};

/// 64-byte aligned copy: weights.
struct Aligned {
  float* p;
  explicit Aligned(const std::vector<float>& v) : p(static_cast<float*>(std::aligned_alloc(64, (v.size() * 4 + 4096 + 63) / 64 * 64))) {
    for (size_t i = 0; i < v.size(); ++i) p[i] = v[i];
  }
  ~Aligned() { std::free(p); }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;
  operator const float*() const { return p; }
};

/// relu(acc + x)
struct AddRelu {
  template <class L, class X0, class X1>
  static ONNXC_INLINE auto apply(L lanes, X0 x0, X1 x1) {
    return fn::max(fn::add(x0, x1), lanes(0.0f));
  }
};

}  // namespace onnxc::test
