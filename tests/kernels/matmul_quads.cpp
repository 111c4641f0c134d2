// Products of two operands of bytes against sums in 64 bits, to the bit: sizes around tiles, quads and panels, zero points, batches, threads, and
// nothing read or written outside.
#include <onnxc/matmul_quads.hpp>

#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <vector>

#include "tests/kernels/common.hpp"

using namespace onnxc;
using namespace onnxc::test;

namespace {

template <int MR, int NV>
void check(int64_t m, int64_t n, int64_t k, int64_t heads, int threads, unsigned seed) {
  std::mt19937 random(seed);
  const int64_t lda = k + seed % 3, ldb = n + seed % 2, ldc = n + 3, repeat = seed % 4 == 0 ? 0 : 1;
  const auto bytes = [&](int64_t count) {
    std::unique_ptr<uint8_t[]> x(new uint8_t[static_cast<std::size_t>(count)]);  // of exactly this size: a sanitizer sees reads beyond it
    for (int64_t i = 0; i < count; ++i) x[static_cast<std::size_t>(i)] = static_cast<uint8_t>(i % 5 == 0 ? 255 : random());
    return x;
  };
  const auto a = bytes((heads - 1) * m * lda + (m - 1) * lda + k), b = bytes((heads - 1) * repeat * k * ldb + (k - 1) * ldb + n);
  const uint8_t a_zero = static_cast<uint8_t>(random()), b_zero = static_cast<uint8_t>(random());
  const bool has_zeros = seed % 5 != 0;
  const AlignedCopy<uint8_t> panel(std::vector<uint8_t>(static_cast<std::size_t>(4 * contract::quads(k) * QuadTile<MR, NV>::NR)));
  std::vector<int32_t> c(static_cast<std::size_t>(heads * m * ldc), -77);
  const QuadMatMulParams p{.m = m,
                           .n = n,
                           .k = k,
                           .lda = lda,
                           .ldb = ldb,
                           .ldc = ldc,
                           .batch = {heads},
                           .a_batch = {m * lda},
                           .b_batch = {repeat * k * ldb},
                           .c_batch = {m * ldc}};
  for (int t = 0; t < threads; ++t)
    matmul_quads<MR, NV>({t, threads}, a.get(), b.get(), c.data(), panel.p, has_zeros ? &a_zero : nullptr, has_zeros ? &b_zero : nullptr,
                         p);
  for (int64_t row = 0; row < heads * m; ++row) {
    for (int64_t j = 0; j < ldc; ++j) {
      int64_t sum = 0;
      const int64_t head = row / m, i = row % m;
      for (int64_t s = 0; s < k; ++s) {
        const int64_t left = a[static_cast<std::size_t>(head * m * lda + i * lda + s)];
        const int64_t right = j < n ? b[static_cast<std::size_t>(head * repeat * k * ldb + s * ldb + j)] : 0;
        sum += (left - (has_zeros ? a_zero : 0)) * (right - (has_zeros ? b_zero : 0));
      }
      REQUIRE(c[static_cast<std::size_t>(row * ldc + j)] == (j < n ? sum : -77));
    }
  }
}

}  // namespace

TEST_CASE("matmul_quads: products of bytes less their zero points") {
  unsigned seed = 0;
  for (int64_t m : {1, 2, 13, 14, 15, 40}) {
    for (int64_t n : {1, Vec::width, 2 * Vec::width, 2 * Vec::width + 5}) {
      for (int64_t k : {1, 3, 4, 37, 64, 130}) {
        for (int threads : {1, 3}) {
          check<14, 2>(m, n, k, 1 + seed % 3, threads, seed);
          check<6, 1>(m, n, k, 2, threads, ++seed);
        }
      }
    }
  }
}
