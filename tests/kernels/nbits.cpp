// Products with packed weights of 2, 4 and 8 bits against sums in double: blocks of all lengths, every kind of zero point, tails of m, n and k,
// threads, epilogues, values that are not finite. Bounds follow from how a is rounded.
#include <onnxc/gather_nbits.hpp>
#include <onnxc/gemm_nbits.hpp>
#include <onnxc/scalar/gather_blocks.hpp>

#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "compiler/select/weights/pack.h"
#include "tests/kernels/common.hpp"

using namespace onnxc;
using namespace onnxc::test;

namespace {

enum class Zero { None, Codes, Floats };

struct Case {
  int64_t m, n, k, block;
  Zero zero = Zero::None;
  int threads = 1;
  bool half_scales = false;
};

/// Weights in the form of MatMulNBits, and as numbers.
struct Weights {
  std::vector<uint8_t> codes, zero_codes;
  std::vector<float> scales, zeros;
  std::vector<double> numbers;  // [k][n]

  Weights(const Case& t, int bits, unsigned seed) : numbers(size_t(t.k * t.n)) {
    std::mt19937 random(seed);
    const int64_t blocks = (t.k + t.block - 1) / t.block, bytes = t.block * bits / 8, zero_bytes = (blocks * bits + 7) / 8;
    codes.resize(size_t(t.n * blocks * bytes));
    for (auto& c : codes) c = random() % 4 == 0 ? uint8_t(random() % 2 * 255) : uint8_t(random());
    scales.resize(size_t(t.n * blocks));
    for (auto& s : scales) s = float(float16((float(random() % 200) - 50) / 64));
    if (t.zero == Zero::Codes) zero_codes.resize(size_t(t.n * zero_bytes));
    for (auto& z : zero_codes) z = uint8_t(random());
    if (t.zero == Zero::Floats) zeros.resize(scales.size());
    for (auto& z : zeros) z = float(random() % 1000) / 77;
    const auto code = [&](const std::vector<uint8_t>& of, int64_t first, int64_t i) {
      return (of[size_t(first + i / (8 / bits))] >> (i % (8 / bits) * bits)) & ((1 << bits) - 1);
    };
    for (int64_t j = 0; j < t.n; ++j) {
      for (int64_t s = 0; s < t.k; ++s) {
        const int64_t number = s / t.block, at = j * blocks + number;
        const double zero = t.zero == Zero::None    ? 1 << (bits - 1)
                            : t.zero == Zero::Codes ? double(code(zero_codes, j * zero_bytes, number))
                                                    : double(zeros[size_t(at)]);
        numbers[size_t(s * t.n + j)] = (code(codes, at * bytes, s % t.block) - zero) * double(scales[size_t(at)]);
      }
    }
  }
};

template <int Bits, int NV, class S, class Z, bool exact>
void check(const Case& t, int64_t most_rows, unsigned seed) {
  constexpr int64_t NR = NV * Vec::width;
  INFO("bits " << Bits << " nv " << NV << " m " << t.m << " n " << t.n << " k " << t.k << " block " << t.block << " exact " << exact
               << " most " << most_rows);
  const Weights w(t, Bits, seed);
  const AlignedCopy<std::byte> packed(
      pack::nbits({t.block, w.codes, w.scales, w.zero_codes, w.zeros}, {t.k, t.n, Bits, NR, std::is_same_v<S, float16>}));
  const int64_t lda = t.k + 3, ldc = t.n + 5, block = pack::nbits_block(t.block);
  auto values = numbers(t.m * lda, seed);
  if (t.k > 5 && t.m > 1) values[size_t(lda + 5)] = 300.0f;  // an outlier in row 1
  const Unaligned a(values);
  const auto residual = numbers(t.m * ldc, seed + 1);
  std::vector<float> c(size_t(t.m * ldc), kGuard);
  const NBitsParams p{.m = t.m, .n = t.n, .k = t.k, .block = block, .lda = lda, .ldc = ldc, .most_rows = most_rows};
  const Epilogue<AddRelu, Rows<float>> epilogue{{residual.data(), ldc}};
  const int64_t scratch_bytes =
      exact ? contract::nbits_exact_scratch(t.k, NR, Vec::width) : contract::nbits_scratch(t.m, t.k, block, NR, Vec::width);
  REQUIRE(scratch_bytes % 4 == 0);
  const Scratch scratch(t.threads, scratch_bytes / 4);
  for (int thread = 0; thread < t.threads; ++thread) {
    const Share share{thread, t.threads};
    const auto* const b = reinterpret_cast<const uint8_t*>(packed.p);
    if constexpr (exact) gemm_nbits_exact<Bits, NV, S, Z>(share, a.data(), b, c.data(), scratch.of(thread), p, epilogue);
    else gemm_nbits<Bits, NV, S, Z>(share, a.data(), b, c.data(), reinterpret_cast<uint8_t*>(scratch.of(thread)), p, epilogue);
  }
  int64_t wrong = 0;
  for (int64_t i = 0; i < t.m; ++i) {
    // Half a step of each block, and one in 2^20 for the reciprocal of the step.
    std::vector<double> half(size_t((t.k + block - 1) / block), 0.0);
    for (int64_t s = 0; s < t.k; ++s)
      half[size_t(s / block)] = std::max(half[size_t(s / block)], std::fabs(double(values[size_t(i * lda + s)])) / (2.0 * kMostLong));
    for (int64_t j = 0; j < ldc; ++j) {
      const float got = c[size_t(i * ldc + j)];
      if (j >= t.n) {
        wrong += got != kGuard;
        continue;
      }
      // Sums in f32: those of codes and those of zero points, which may cancel, have an error each.
      double y = residual[size_t(i * ldc + j)], magnitude = std::fabs(y), rounding = 0;
      for (int64_t s = 0; s < t.k; ++s) {
        const double x = values[size_t(i * lda + s)], b = w.numbers[size_t(s * t.n + j)],
                     scale = w.scales[size_t(j * ((t.k + t.block - 1) / t.block) + s / t.block)];
        y += x * b;
        magnitude += std::fabs(x * b) + std::fabs(x * scale * (1 << Bits));
        rounding += half[size_t(s / block)] * std::fabs(b) * (1 + 0x1p-5);
      }
      const double tolerance = 0x1p-24 * double(t.k / block + 8) * magnitude + (exact ? 0x1p-24 * double(t.k) * magnitude : rounding);
      wrong += !(std::fabs(got - std::fmax(y, 0.0)) <= tolerance);
    }
  }
  CHECK(wrong == 0);
}

template <int Bits, int NV>
void check_all(unsigned seed) {
  constexpr int64_t NR = NV * Vec::width;
  for (const int64_t m : {1, 2, 3, 5, 16, 19}) {
    for (const int64_t n : {int64_t{1}, NR - 1, NR, 2 * NR + 3}) {
      const int64_t block = int64_t{16} << (seed % 6), k = seed % 2 == 0 ? 2 * block : block + 13;
      const int threads = 1 + int(seed % 3);
      check<Bits, NV, float, NoZeros, false>({m, n, k, block, Zero::None, threads}, INT64_MAX, seed);
      check<Bits, NV, float, uint8_t, false>({m, n, k, block, Zero::Codes, threads}, m - 1 + seed % 2, seed);
      check<Bits, NV, float16, float, true>({m, n, k, block, Zero::Floats, threads, true}, 0, seed);
      ++seed;
    }
  }
}

}  // namespace

TEST_CASE("nbits: products with packed weights") {
  check_all<4, 4>(1);
  check_all<4, 1>(100);
  check_all<8, 2>(200);
  check_all<2, 3>(300);
  check<4, 4, float16, uint8_t, false>({130, 70, 2100, 32, Zero::Codes, 2, true}, 20, 7);
  check<8, 4, float, float, false>({3, 70, 2100, 1024, Zero::Floats, 2}, 20, 8);
  check<4, 2, float, NoZeros, true>({230, 70, 2100, 128, Zero::None, 2}, 0, 9);
}

TEST_CASE("nbits: the greatest sums fit") {
  // Numbers and codes of the greatest size and one sign, in the longest block.
  constexpr int64_t k = contract::kNBitsMostBlock, n = 4 * Vec::width;
  const std::vector<uint8_t> codes(size_t(n * k), 255), zeros(size_t(n), 0);
  const std::vector<float> scales(size_t(n), 1.0f);
  const AlignedCopy<std::byte> packed(pack::nbits({k, codes, scales, zeros, {}}, {k, n, 8, n}));
  for (const float x : {1.0f, -1.0f}) {
    const std::vector<float> a(size_t(k), x);
    std::vector<float> c(static_cast<size_t>(n));
    const Scratch scratch(1, contract::nbits_scratch(1, k, k, n, Vec::width) / 4);
    gemm_nbits<8, 4, float, uint8_t>({}, a.data(), reinterpret_cast<const uint8_t*>(packed.p), c.data(),
                                     reinterpret_cast<uint8_t*>(scratch.of(0)), {.m = 1, .n = n, .k = k, .block = k, .lda = k, .ldc = n});
    for (const float y : c) CHECK(std::fabs(y - 255.0f * float(k) * x) <= 255.0f * float(k) * 0x1p-22f);
  }
}

TEST_CASE("nbits: values that are not finite, tiny ones, zeros") {
  constexpr int64_t k = 64, n = 20;
  const Case t{5, n, k, 32};
  const Weights w(t, 4, 3);
  const AlignedCopy<std::byte> packed(pack::nbits({32, w.codes, w.scales, {}, {}}, {k, n, 4, 4 * Vec::width}));
  auto a = numbers(5 * k, 3);
  const float inf = std::numeric_limits<float>::infinity();
  std::fill_n(a.begin(), k, 0.0f);
  for (int64_t i = 0; i < k; ++i) a[size_t(k + i)] *= 0x1p-120f;
  a[size_t(2 * k + 40)] = inf;
  a[size_t(3 * k)] = std::numeric_limits<float>::quiet_NaN();
  a[size_t(4 * k + 1)] = 3e38f;
  const Scratch scratch(1, contract::nbits_scratch(1, k, 32, 4 * Vec::width, Vec::width) / 4);
  for (int64_t row = 0; row < 5; ++row) {
    std::vector<float> c(static_cast<size_t>(n));
    gemm_nbits<4, 4, float, NoZeros>({}, a.data() + row * k, reinterpret_cast<const uint8_t*>(packed.p), c.data(),
                                     reinterpret_cast<uint8_t*>(scratch.of(0)), {.m = 1, .n = n, .k = k, .block = 32, .lda = k, .ldc = n});
    for (int64_t j = 0; j < n; ++j) {
      double y = 0, rounding = 0;
      for (int64_t s = 0; s < k; ++s) {
        double most = 0;
        for (int64_t i = s / 32 * 32; i < s / 32 * 32 + 32; ++i) most = std::max(most, std::fabs(double(a[size_t(row * k + i)])));
        const double x = a[size_t(row * k + s)], b = w.numbers[size_t(s * n + j)];
        y += x * b;
        rounding += std::max(most / kMostLong, 0x1p-126) * std::fabs(b);  // twice what rounding adds
      }
      INFO("row " << row << " column " << j);
      const float got = c[size_t(j)];
      if (row == 0) CHECK(got == 0.0f);
      else if (std::isnan(y)) CHECK(std::isnan(got));
      else if (std::isinf(y) || std::fabs(y) > 3.5e38) CHECK(got == (y > 0 ? inf : -inf));
      else CHECK(std::fabs(got - y) <= rounding);
    }
  }
}

namespace {

/// Rows of a table that is the Transpose of the weights, to the bit; indices from the end, and beyond both ends.
template <int Bits, int NR, class S, class Z>
void check_rows(const Case& t, unsigned seed) {
  INFO("bits " << Bits << " nr " << NR << " rows " << t.n << " k " << t.k << " block " << t.block);
  const Weights w(t, Bits, seed);
  const auto packed = pack::nbits({t.block, w.codes, w.scales, w.zero_codes, {}}, {t.k, t.n, Bits, NR, std::is_same_v<S, float16>});
  const int64_t blocks = (t.k + t.block - 1) / t.block, row_bytes = t.k * Bits / 8, padded = blocks * t.block * Bits / 8;
  std::vector<uint8_t> table;
  for (int64_t i = 0; i < t.n; ++i) table.insert(table.end(), &w.codes[size_t(i * padded)], &w.codes[size_t(i * padded)] + row_bytes);
  const std::vector<int64_t> indices{0, t.n - 1, -1, -t.n, t.n, -t.n - 1, t.n / 2};
  const auto count = static_cast<int64_t>(indices.size());
  std::vector<float> fast(size_t(count * t.k), kGuard), plain(size_t(count * t.k), kGuard);
  for (int thread = 0; thread < t.threads; ++thread) {
    const Share share{thread, t.threads};
    gather_nbits<Bits, NR, S, Z>(share, fast.data(), reinterpret_cast<const uint8_t*>(packed.data()), indices.data(),
                                 {t.n, t.k, pack::nbits_block(t.block), count});
    const auto look_up = [&](auto zeros) {
      scalar::gather_blocks<Bits>(share, plain.data(), table.data(), w.scales.data(), zeros, indices.data(), {t.n, t.k, t.block, count});
    };
    if constexpr (std::is_same_v<Z, NoZeros>) look_up(nullptr);
    else look_up(w.zero_codes.data());
  }
  int64_t wrong = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = indices[size_t(i)] < 0 ? indices[size_t(i)] + t.n : indices[size_t(i)];
    for (int64_t s = 0; s < t.k; ++s) {
      const float wanted = row < 0 || row >= t.n ? 0.0f : float(w.numbers[size_t(s * t.n + row)]);
      wrong += fast[size_t(i * t.k + s)] != wanted || plain[size_t(i * t.k + s)] != wanted;
    }
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("nbits: rows of tables, in the order of a product and of their own") {
  check_rows<4, 1, float, NoZeros>({0, 5, 64, 32}, 1);
  check_rows<4, 1, float16, uint8_t>({0, 40, 70, 16, Zero::Codes, 3}, 2);
  check_rows<4, 4 * Vec::width, float16, uint8_t>({0, 4 * Vec::width + 3, 70, 32, Zero::Codes, 2}, 3);
  check_rows<8, 2 * Vec::width, float, uint8_t>({0, 33, 1023, 512, Zero::Codes, 1}, 4);
  check_rows<8, 1, float, NoZeros>({0, 1, 1, 16}, 5);
  check_rows<2, Vec::width, float, uint8_t>({0, 9, 132, 64, Zero::Codes, 1}, 6);
}
