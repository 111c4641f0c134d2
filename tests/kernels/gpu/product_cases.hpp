// Operands of products on GPUs, what the products are in double, and how far a kind may be from it.
#pragma once
#include <onnxc/gpu/product_kind.hpp>

#include <cmath>
#include <random>

#include "tests/kernels/gpu/common.hpp"

namespace onnxc::test {

template <class T>
T element_of(double x) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(std::lround(x * 40) % 128 + (std::is_signed_v<T> ? 0 : 64));
  else return static_cast<T>(static_cast<float>(x));
}
template <class T>
double value_of(T x) {
  if constexpr (std::is_integral_v<T>) return x;
  else return static_cast<double>(static_cast<float>(x));
}

/// Normal numbers; of integers, codes of all signs there are.
template <class T>
std::vector<T> numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<T> v(count);
  for (T& x : v) x = element_of<T>(normal(random));
  return v;
}

/// relu(x0 + x1), as the compiler prints it: an epilogue.
struct AddRelu {
  template <class L, class X0, class X1>
  static ONNXC_BOTH auto apply(L lanes, X0 x0, X1 x1) {
    const auto t = x0 + x1;
    return t > lanes(0.0f) ? t : lanes(0.0f);
  }
};

/// All bits set: NaN, or a code that nobody means.
template <class T>
T garbage() {
  T x;
  std::memset(static_cast<void*>(&x), 0xFF, sizeof(T));
  return x;
}

/// [rows][k] in rows of `stride`: zeros to the next multiple of 16 bytes, garbage beyond.
template <class T>
std::vector<T> in_rows(const std::vector<T>& from, std::size_t k, std::size_t stride) {
  const std::size_t rows = k == 0 ? 0 : from.size() / k, padded = (k * sizeof(T) + 15) / 16 * 16 / sizeof(T);
  std::vector<T> to(rows * stride, garbage<T>());
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < padded; ++i) to[r * stride + i] = i < k ? from[r * k + i] : T{};
  }
  return to;
}

/// By how much of the sum of magnitudes a product of k may be off: every product adds rounding of its operands, and sums
/// are cut after each 8 words.
template <class Kind>
double error_of(std::int64_t k) {
  const double steps = static_cast<double>(k) / (8 * Kind::kValues) + 2;
  if constexpr (std::is_same_v<Kind, gpu::ThreeTf32>) return 16 * std::ldexp(1, -23) + steps / 4 * std::ldexp(1, -24);
  else if constexpr (std::is_same_v<Kind, gpu::OnceTf32>) return 1.001 * std::ldexp(1, -10) + steps * std::ldexp(1, -23);
  else if constexpr (Kind::kValues == 4) return 0;
  else return steps * std::ldexp(1, -23);
}

}  // namespace onnxc::test
