// Constants that are stored narrower than floats: every code is read as its float, and products are those of the floats, to the bit.
#include <onnxc/gemv.hpp>

#include <cstring>

#include "common.hpp"
#include "compiler/lowering/pack.h"

using namespace onnxc;
using namespace onnxc::test;

namespace {

/// Narrow elements, their scales, and the floats that they stand for: a matrix [k][n] in panels of nr.
template <class T>
struct Matrix {
  std::vector<T> codes;
  std::vector<float> scales, floats;
};

template <class T>
Matrix<T> matrix(int64_t k, int64_t n, int64_t nr) {
  const auto b = numbers(k * n, 2), factors = numbers(n, 5);
  std::vector<float> narrow(b.size()), scales(size_t(n), 1.0f);
  for (size_t i = 0; i < b.size(); ++i) {
    if constexpr (std::is_same_v<T, int8_t>) {
      scales[i % size_t(n)] = std::fabs(factors[i % size_t(n)]) + 0.01f;
      narrow[i] = std::round(b[i] * 127.5f - 0.5f);  // -128 to 127
    } else {
      narrow[i] = float(T(i % 7 == 0 ? b[i] * 3e-6f : b[i] * 900.0f));  // subnormals of f16 among them
    }
  }
  Matrix<T> m{{}, pack::padded(scales, nr), {}};
  const auto panels = pack::panels(narrow, {.k = k, .n = n, .nr = nr});
  for (size_t i = 0; i < panels.size(); ++i) {
    m.codes.push_back(T(panels[i]));
    m.floats.push_back(panels[i] * (std::is_same_v<T, int8_t> ? m.scales[i / size_t(k * nr) * size_t(nr) + i % size_t(nr)] : 1.0f));
  }
  return m;
}

/// run(part, a, b, c, params) with narrow panels and with those of floats.
template <class T, class Run>
void check_same(int64_t m, int64_t n, int64_t k, int64_t nr, int parts, Run run) {
  INFO("m " << m << " n " << n << " k " << k << " nr " << nr);
  const auto b = matrix<T>(k, n, nr);
  const auto a = numbers(m * k, 1), bias = pack::padded(numbers(n, 3), nr);
  std::vector<float> narrow(size_t(m * n) + 1, kGuard), wide = narrow;
  const GemmParams p{.m = m, .n = n, .k = k, .lda = k, .ldc = n, .bias = bias.data(), .scales = b.scales.data()};
  for (int i = 0; i < parts; ++i) {
    run(Part{i, parts}, a.data(), b.codes.data(), narrow.data(), p);
    run(Part{i, parts}, a.data(), b.floats.data(), wide.data(), p);
  }
  CHECK(std::memcmp(narrow.data(), wide.data(), wide.size() * sizeof(float)) == 0);
  CHECK(wide.back() == kGuard);
}

template <class T, int MR, int NV>
void check_tile() {
  constexpr int NR = NV * Vec::width;
  std::vector<float> sums(size_t(2 * 3 * MR * NR));
  for (int64_t m : {1, MR - 1, MR, 2 * MR + 1}) {
    if (m == 0) continue;
    for (int64_t n : {1, NR - 1, NR, 2 * NR + 5}) {
      for (int64_t k : {1, 4, 31}) {
        check_same<T>(m, n, k, NR, int(k % 3) + 1, [](Part part, const float* x, const auto* w, float* y, GemmParams p) { gemm<MR, NV>(part, x, w, y, p); });
        check_same<T>(m, n, k, NR, 1, [](Part part, const float* x, const auto* w, float* y, GemmParams p) { gemm_any<MR, NV>(part, x, w, y, p); });
        check_same<T>(m, n, k, NR, 2, [&](Part part, const float* x, const auto* w, float* y, GemmParams p) {
          p.slices = {sums.data(), 7, 3 * MR};
          gemm<MR, NV>(part, x, w, y, p);
        });
      }
    }
  }
}

template <class T, int NV>
void check_gemv() {
  constexpr int NR = NV * Vec::width;
  for (int64_t n : {1, NR - 1, NR, 3 * NR + 5}) {
    for (int64_t k : {0, 1, 3, 4, 257})
      check_same<T>(1, n, k, NR, int(k % 2) + 1, [](Part part, const float* x, const auto* w, float* y, GemmParams p) { gemv<NV>(part, x, w, y, p); });
  }
}

template <class T>
void check_all() {
  check_gemv<T, 1>();
  check_gemv<T, 2>();
  check_gemv<T, 4>();
  check_gemv<T, 8>();
  check_tile<T, 14, 2>();
  check_tile<T, 6, 2>();
  check_tile<T, 6, 4>();
  check_tile<T, 4, 3>();
  check_tile<T, 2, 4>();
  check_tile<T, 1, 4>();
}

/// Every code of 16 bits, read at each offset from an alignment.
template <class T>
int64_t wrong_codes() {
  std::vector<T> codes;
  for (uint32_t code = 0; code < 0x10000 + 64; ++code) codes.push_back(T::from_bits(uint16_t(code)));
  int64_t wrong = 0;
  for (size_t first = 0; first + size_t(Vec::width) <= codes.size(); first += 7) {
    float read[Vec::width];
    widen(codes.data() + first).store(read);
    for (size_t i = 0; i < size_t(Vec::width); ++i) {
      const float expected = float(codes[first + i]);
      wrong += std::isnan(expected) ? !std::isnan(read[i]) : std::bit_cast<uint32_t>(read[i]) != std::bit_cast<uint32_t>(expected);
    }
  }
  return wrong;
}

}  // namespace

TEST_CASE("every code is read as its float") {
  CHECK(wrong_codes<float16>() == 0);
  CHECK(wrong_codes<bfloat16>() == 0);
  std::vector<int8_t> codes;
  for (int code = -128; code < 128; ++code) codes.push_back(int8_t(code));
  const auto scales = numbers(Vec::width, 3);
  int64_t wrong = 0;
  for (size_t first = 0; first + size_t(Vec::width) <= codes.size(); ++first) {
    float read[Vec::width];
    load(Codes{codes.data() + first, scales.data()}, 0).store(read);
    for (size_t i = 0; i < size_t(Vec::width); ++i) wrong += read[i] != float(codes[first + i]) * scales[i];
  }
  CHECK(wrong == 0);
}

TEST_CASE("integers alone widen halves as the machine's instruction does") {
  int64_t wrong = 0;
  for (uint32_t code = 0; code < 0x10000; ++code) {
    float read[Vec::width];
    detail::widen_halves(IntVec::all(int32_t(code))).store(read);
    const float expected = float(float16::from_bits(uint16_t(code)));
    wrong += std::isnan(expected) ? !std::isnan(read[0]) : std::bit_cast<uint32_t>(read[0]) != std::bit_cast<uint32_t>(expected);
  }
  CHECK(wrong == 0);
}

TEST_CASE("products with f16 weights are those with their floats") { check_all<float16>(); }
TEST_CASE("products with bf16 weights are those with their floats") { check_all<bfloat16>(); }
TEST_CASE("products with weights of 8 bits are those with their floats") { check_all<int8_t>(); }
