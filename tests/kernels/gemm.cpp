// GEMM and GEMV with packed b against a loop in double: every tail of m and n, pitches, bias, epilogue operands,
// threads.
#include <onnxc/fast_inner_product_any.hpp>
#include <onnxc/gemm_few_columns.hpp>
#include <onnxc/gemm_scaled.hpp>
#include <onnxc/gemv.hpp>
#include <onnxc/strassen.hpp>

#include <algorithm>
#include <cstring>

#include "common.hpp"
#include "compiler/select/weights/pack.h"

using namespace onnxc;
using namespace onnxc::test;

namespace {

struct Case {
  int64_t m, n, k;
  int threads = 1;
  bool bias = true, residual = true;
  int64_t gap = 5;  // after each row of c
};

/// How b is packed: for gemm, gemm with pairs, gemm_few_columns, strassen or fast_inner_product.
enum class Packing { Panels, Pairs, FewColumns, Strassen, InnerProduct };
std::vector<float> packed_as(Packing packing, const std::vector<float>& b, int64_t k, int64_t n, int64_t nr) {
  if (packing == Packing::FewColumns) return pack::panels(b, {.k = n, .n = k, .nr = nr, .transposed = true, .ld = n});
  if (packing == Packing::Strassen) return pack::strassen(b, {.k = k, .n = n, .nr = nr});
  if (packing == Packing::InnerProduct) return pack::fast_inner_product(b, {.k = k, .n = n, .nr = nr});
  const auto panels = pack::panels(b, {.k = k, .n = n, .nr = nr});
  return packing == Packing::Pairs ? pack::pairs(panels, nr, Vec::width) : panels;
}

/// Compares run(share, a, packed b, c, params, epilogue) with the loop.
template <class Run>
void check(const Case& t, int nr, Run run, Packing packing = Packing::Panels) {
  INFO("m " << t.m << " n " << t.n << " k " << t.k << " threads " << t.threads << " nr " << nr);
  const int64_t lda = t.k + 3, ldc = t.n + t.gap;
  const auto a = numbers(t.m * lda, 1), b = numbers(t.k * t.n, 2), bias = numbers(t.n, 3), residual = numbers(t.m * ldc, 4);
  const Aligned packed(packed_as(packing, b, t.k, t.n, nr));
  const Aligned packed_bias(pack::padded(bias, nr));
  const Unaligned x(std::vector<float>(a.begin(), a.end() - 3)), r(residual);
  std::vector<float> c(size_t(t.m * ldc) + 1, kGuard);
  const GemmParams p{.m = t.m, .n = t.n, .k = t.k, .lda = lda, .ldc = ldc, .bias = t.bias ? packed_bias.p : nullptr};
  for (int i = 0; i < t.threads; ++i) {
    if (t.residual) run(Share{i, t.threads}, x.data(), packed, c.data() + 1, p, Epilogue<AddRelu, Rows<float>>{{r.data(), ldc}});
    else run(Share{i, t.threads}, x.data(), packed, c.data() + 1, p, Epilogue<Keep>{});
  }
  // Strassen multiplies sums of up to four values by sums of up to four values, so the root mean square of its
  // products is up to four times as large. Products of pairs in an inner product are r + 1 / r times as large, where
  // the two norms are as r to 1. After scaling r is at most 2 / 0.7.
  const double larger = packing == Packing::Strassen       ? 4
                        : packing == Packing::InnerProduct ? 2 / 0.7 + 0.7 / 2
                                                           : 1,
               tolerance = larger * sum_tolerance(t.k);
  int64_t wrong = c[0] != kGuard;
  for (int64_t i = 0; i < t.m; ++i) {
    for (int64_t j = 0; j < ldc; ++j) {
      const float got = c[size_t(i * ldc + j) + 1];
      if (j >= t.n) {
        wrong += got != kGuard;
        continue;
      }
      double y = t.bias ? double(bias[size_t(j)]) : 0;
      for (int64_t s = 0; s < t.k; ++s) y += double(a[size_t(i * lda + s)]) * double(b[size_t(s * t.n + j)]);
      if (t.residual) y = std::fmax(y + double(residual[size_t(i * ldc + j)]), 0.0);
      wrong += !(std::fabs(got - y) <= tolerance);
    }
  }
  CHECK(wrong == 0);
}

template <int N>
void check_few_columns() {
  const auto run = [](Share share, const float* a, const float* b, float* c, GemmParams p, auto epi) {
    gemm_few_columns<N>(share, a, b, c, p, epi);
  };
  for (const int64_t m : {1, 7, 8, 21}) {
    for (const int k : {0, 1, Vec::width, Vec::width + 3, 64}) {
      for (const int threads : {1, 3}) {
        check({.m = m, .n = N, .k = k, .threads = threads, .bias = k != 64, .residual = m != 7}, Vec::width, run, Packing::FewColumns);
        check({.m = m, .n = N, .k = k, .threads = threads, .residual = false, .gap = 0}, Vec::width, run, Packing::FewColumns);
      }
    }
  }
}

template <int MR, int NV>
void check_tile() {
  constexpr int NR = NV * Vec::width;
  auto run = [](Share share, const float* a, const float* b, float* c, GemmParams p, auto epi) { gemm<MR, NV>(share, a, b, c, p, epi); };
  for (int64_t m : {1, MR - 1, MR, MR + 1, 3 * MR + MR / 2, 65}) {
    if (m == 0) continue;
    for (int64_t n : {1, kPartLanes, Vec::width + 1, NR - 1, NR, NR + 1, 2 * NR + 7}) check({.m = m, .n = n, .k = 17}, NR, run);
  }
  check({.m = 2 * MR, .n = 2 * NR, .k = 1, .bias = false}, NR, run);
  check({.m = 2 * MR, .n = 2 * NR, .k = 0}, NR, run);
  check({.m = 3 * MR + 1, .n = NR + 3, .k = 33, .threads = 3, .residual = false}, NR, run);
  check({.m = 3, .n = 5 * NR + 3, .k = 33, .threads = 4, .residual = false}, NR, run);
  check({.m = 1000, .n = NR, .k = 700, .threads = 2}, NR, run);
  const Aligned sums(std::vector<float>(size_t(2 * 3 * MR * NR)));
  auto sliced = [&](Share share, const float* a, const float* b, float* c, GemmParams p, auto epi) {
    p.slices = {sums.p + share.index * 3 * MR * NR, 7, 3 * MR};
    gemm<MR, NV>(share, a, b, c, p, epi);
  };
  for (int64_t m : {1, MR - 1, MR, MR + 1, 3 * MR, 3 * MR + 1, 65}) {
    if (m == 0) continue;
    for (int64_t k : {0, 1, 7, 8, 50}) check({.m = m, .n = NR + 3, .k = k, .threads = int(k % 2) + 1}, NR, sliced);
  }
}

template <int MR, int NV>
void check_pairs() {
  if constexpr (!kHasPairs) return;
  else {
    constexpr int NR = NV * Vec::width - Vec::width / 2;
    auto run = [](Share share, const float* a, const float* b, float* c, GemmParams p, auto epi) {
      gemm<MR, NV, true>(share, a, b, c, p, epi);
    };
    for (int64_t m : {1, MR - 1, MR, 3 * MR + MR / 2}) {
      if (m == 0) continue;
      for (int64_t n : {1, kPartLanes, NR - 1, NR, NR + 1, 2 * NR + 3}) {
        for (int64_t k : {2, 18}) check({.m = m, .n = n, .k = k}, NR, run, Packing::Pairs);
      }
      check({.m = m, .n = NR, .k = 6, .threads = m > MR ? 2 : 1, .residual = false, .gap = 0}, NR, run, Packing::Pairs);
    }
    check({.m = 2 * MR, .n = 2 * NR, .k = 4, .bias = false}, NR, run, Packing::Pairs);
    check({.m = 3 * MR + 1, .n = NR + 3, .k = 34, .threads = 3, .residual = false}, NR, run, Packing::Pairs);
  }
}

template <int MR, int NV>
void check_strassen() {
  constexpr int NR = NV * Vec::width;
  for (const int64_t block : {2, 7, 2 * MR, 6 * MR + 3}) {
    const auto run = [&](Share share, const float* a, const float* b, float* c, GemmParams p, auto epi) {
      const Scratch scratch(1, strassen_scratch<MR, NV>(p.k, block));
      strassen<MR, NV>(share, a, b, c, scratch.of(0), p, p.m % 2 == 0 ? p.m / 2 : int64_t{p.m}, block, epi);
    };
    for (int64_t m : {1, 2, MR, 2 * MR + 1, 65}) {
      for (int64_t n : {1, NR - 1, NR + 1, 2 * NR, 3 * NR + 5})
        check({.m = m, .n = n, .k = 2 * Vec::width + 6}, NR, run, Packing::Strassen);
    }
    check({.m = 4 * MR + 1, .n = 2 * NR + 3, .k = 2, .bias = false, .residual = false}, NR, run, Packing::Strassen);
    check({.m = 4 * MR + 1, .n = 4 * NR, .k = 130, .threads = 2, .residual = false, .gap = 0}, NR, run, Packing::Strassen);
    check({.m = 3, .n = 6 * NR + 1, .k = 64, .threads = 5}, NR, run, Packing::Strassen);
  }
}

template <int MR>
void check_fast_inner_product() {
  constexpr int NR = Vec::width;
  for (const int64_t block : {1, MR, 3 * MR, 65}) {
    const auto with_scratch = [block](auto kernel) {
      return [kernel, block](Share share, const float* a, const float* b, float* c, GemmParams p, auto epi) {
        const Scratch scratch(1, fast_inner_product_scratch(p.k, block));
        kernel(share, a, b, c, scratch.of(0), p, block, epi);
      };
    };
    const auto run = with_scratch([](auto... args) { fast_inner_product<MR>(args...); }),
               any_number = with_scratch([](auto... args) { fast_inner_product_any<MR>(args...); });
    for (const int64_t m : {1, MR - 1, MR, 2 * MR + 3, 65}) {
      for (const int64_t n : {1, NR - 1, NR + 1, 3 * NR}) check({.m = m, .n = n, .k = 3 * NR + 5}, NR, run, Packing::InnerProduct);
    }
    for (const int64_t k : {1, 2, 3, 4, 3 * NR - 2, 3 * NR - 1, 3 * NR, 3 * NR + 1, 3 * NR + 2, 6 * NR, 200})
      check({.m = 7, .n = NR + 2, .k = k, .bias = k % 2 == 0, .residual = false}, NR, run, Packing::InnerProduct);
    check({.m = 4 * MR + 1, .n = 4 * NR, .k = 130, .threads = 3, .residual = false, .gap = 0}, NR, run, Packing::InnerProduct);
    check({.m = 3, .n = 6 * NR + 1, .k = 64, .threads = 5}, NR, run, Packing::InnerProduct);
    for (const int64_t m : {1, 2, 4, 5, 30}) {
      for (const int64_t k : {1, 2, 3, 4, 3 * NR - 1, 3 * NR + 2})
        check({.m = m, .n = 9 * NR + 1, .k = k, .threads = int(k % 3) + 1}, NR, any_number, Packing::InnerProduct);
    }
  }
}

template <int NV>
void check_gemv() {
  constexpr int NR = NV * Vec::width;
  auto run = [](Share share, const float* a, const float* b, float* c, GemmParams p, auto epi) { gemv<NV>(share, a, b, c, p, epi); };
  for (int64_t n : {1, Vec::width + 1, NR - 1, NR, 3 * NR + 5}) {
    for (int64_t k : {0, 1, 3, 4, 257}) check({.m = 1, .n = n, .k = k, .threads = int(k % 2) + 1}, NR, run);
  }
}

}  // namespace

TEST_CASE("inner products in pairs agree with the loop for every tile and tail") {
  check_fast_inner_product<14>();
  check_fast_inner_product<12>();
  check_fast_inner_product<8>();
}

TEST_CASE("inner products in pairs keep to their bound, whatever the sizes of rows and columns, and rows to themselves") {
  constexpr int64_t m = 60, n = 2 * Vec::width + 3, k = 100;
  auto a = numbers(m * k, 1), b = numbers(k * n, 2);
  const auto power = [](int64_t i, int64_t most) { return std::ldexp(1.0f, int(i * 7919 % (2 * most + 1) - most)); };
  // Values that are large in a meet values that are small in b.
  for (int64_t i = 0; i < m * k; ++i) a[size_t(i)] *= power(i / k, 40) / power(i % k, 30);
  for (int64_t i = 0; i < k * n; ++i) b[size_t(i)] *= power(i / n, 30) * power(i % n, 40);
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  const auto row = [&](int64_t i) { return a.begin() + i * k; };
  std::fill_n(row(5), k, 0.0f);
  row(17)[3] = kInfinity;
  row(18)[k - 1] = -kInfinity;
  row(30)[50] = kNan;
  for (int64_t j = 0; j < k; ++j)
    row(40)[j] *= 0x1p-120f, row(41)[j] = std::ldexp(row(41)[j], 60), row(42)[j] = j == 20 ? 3e38f : 0,
                             row(43)[j] = j == 0 ? 0x1p-130f : 0;  // the last times d is 0
  const Aligned packed(pack::fast_inner_product(b, {.k = k, .n = n, .nr = Vec::width}));
  const auto run = [&](const std::vector<float>& from, Share share, std::vector<float>& c) {
    constexpr int64_t kBlock = 24;
    const Scratch scratch(1, fast_inner_product_scratch(k, kBlock));
    fast_inner_product<12>(share, from.data(), packed.p, c.data(), scratch.of(0), {.m = m, .n = n, .k = k, .lda = k, .ldc = n}, kBlock);
  };
  std::vector<float> c(m * n), shared(m * n), alone(m * n);
  run(a, {}, c);
  // For a single row fast_inner_product_any uses plain multiply-adds, since only the run tells how many rows there
  // are.
  for (int64_t i = 0; i < m; ++i)
    fast_inner_product_any<12>({}, &a[size_t(i * k)], packed.p, &alone[size_t(i * n)], nullptr,
                               {.m = 1, .n = n, .k = k, .lda = k, .ldc = n}, 1);
  int64_t wrong = 0;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0, row_squares = 0, column_squares = 0;
      for (int64_t s = 0; s < k; ++s) {
        const double x = row(i)[s], w = b[size_t(s * n + j)], scale = power(s, 30);
        sum += x * w;
        row_squares += x * scale * x * scale;
        column_squares += w / scale * w / scale;
      }
      // 13 times the norms of x d and w / d, as in the head of the kernel's file. d is not this scale but a power of
      // two near it: at most a factor of 2 off either way. So the bound is 2 times as large for each of the two
      // norms.
      const double bound = 13 * 4 * double(k) * 0x1p-24 * std::sqrt(row_squares * column_squares);
      for (const float got : {c[size_t(i * n + j)], alone[size_t(i * n + j)]}) {
        wrong += !(i == 5                   ? got == 0
                   : std::isnan(sum)        ? std::isnan(got)
                   : std::isinf(float(sum)) ? got == float(sum)
                                            : std::fabs(double(got) - sum) <= bound + 0x1p-126);
      }
    }
  }
  CHECK(wrong == 0);
  for (int thread = 0; thread < 3; ++thread) run(a, {thread, 3}, shared);
  CHECK(std::memcmp(c.data(), shared.data(), c.size() * sizeof(float)) == 0);
  for (const int64_t odd : {17, 18, 30}) std::fill_n(row(odd), k, 1.0f);
  run(a, {}, alone);
  for (const int64_t i : {0, 16, 19, 31, 59}) CHECK(std::memcmp(&c[size_t(i * n)], &alone[size_t(i * n)], n * sizeof(float)) == 0);
}

TEST_CASE("inner products of no rows write nothing") {
  constexpr int64_t n = 5 * Vec::width + 3, k = 20;
  const auto b = numbers(k * n, 1);
  const Aligned packed(pack::fast_inner_product(b, {.k = k, .n = n, .nr = Vec::width}));
  const std::vector<float> a(k, 1.0f);
  std::vector<float> c(n, 7.0f);
  fast_inner_product_any<12>({}, a.data(), packed.p, c.data(), nullptr, {.m = 0, .n = n, .k = k, .lda = k, .ldc = n}, 1);
  CHECK(std::ranges::count(c, 7.0f) == n);
}

TEST_CASE("products of a few columns") {
  check_few_columns<1>();
  check_few_columns<2>();
  check_few_columns<4>();
}

TEST_CASE("gemm agrees with the loop for every tile and tail") {
  check_tile<14, 2>();
  check_tile<12, 2>();
  check_tile<8, 3>();
  check_tile<7, 4>();
  check_tile<6, 2>();
  check_tile<8, 2>();
  check_tile<6, 3>();
  check_tile<5, 4>();
  check_tile<6, 4>();
  check_tile<4, 3>();
  check_tile<4, 4>();
  check_tile<3, 2>();
  check_tile<2, 6>();
  check_tile<1, 4>();
  check_tile<14, 1>();
}

TEST_CASE("gemm with pairs agrees with the loop") {
  check_pairs<8, 1>();
  check_pairs<8, 2>();
  check_pairs<10, 2>();
  check_pairs<8, 3>();
  check_pairs<6, 4>();
  check_pairs<1, 4>();
}

TEST_CASE("strassen agrees with the loop") {
  check_strassen<14, 2>();
  check_strassen<8, 2>();
  check_strassen<7, 4>();
  check_strassen<6, 3>();
  check_strassen<1, 4>();
}

TEST_CASE("strassen leaves infinities, NaN and outliers in their rows") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr int NR = 2 * Vec::width;
  constexpr int64_t m = 61, n = 3 * NR + 5, k = 54;
  const auto w = numbers(k * n, 2);
  const Aligned b(pack::strassen(w, {.k = k, .n = n, .nr = NR}));
  for (const int64_t block : {7, 24, 61}) {
    for (const float value : {kNan, kInfinity, -kInfinity, 1e8f, -9999.0f, 1e20f}) {
      auto a = numbers(m * k);
      for (int64_t row = 0, column = 3; row < m; row += 13, column += 17) a[size_t(row * k + column % k)] = value;
      const Scratch scratch(1, strassen_scratch<6, 2>(k, block));
      std::vector<float> c(size_t(m * n));
      strassen<6, 2>({}, a.data(), b.p, c.data(), scratch.of(0), {.m = m, .n = n, .k = k, .lda = k, .ldc = n}, m, block);
      int64_t wrong = 0;
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          double sum = 0, squares = 0, weights = 0;
          for (int64_t e = 0; e < k; ++e) {
            const double x = double(a[size_t(i * k + e)]), y = double(w[size_t(e * n + j)]);
            sum += x * y;
            squares += x * x;
            weights += y * y;
          }
          const auto got = double(c[size_t(i * n + j)]);
          wrong += std::isnan(sum)   ? !std::isnan(got)
                   : std::isinf(sum) ? got != sum
                                     : !(std::fabs(got - sum) <= 2e-5 * std::sqrt(squares * weights));
        }
      }
      INFO("block " << block << " value " << value);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("strassen gives the same for any number of threads") {
  const int64_t m = 300, n = 5 * 2 * Vec::width + 3, k = 96;
  const auto a = numbers(m * k, 1);
  const Aligned b(pack::strassen(numbers(k * n, 2), {.k = k, .n = n, .nr = 2 * Vec::width}));
  const auto run = [&](int threads, int64_t block) {
    std::vector<float> c(size_t(m * n), kGuard);
    const Scratch scratch(threads, strassen_scratch<8, 2>(k, block));
    for (int i = 0; i < threads; ++i)
      strassen<8, 2>(Share{i, threads}, a.data(), b.p, c.data(), scratch.of(i), {.m = m, .n = n, .k = k, .lda = k, .ldc = n}, m, block);
    return c;
  };
  for (const int64_t block : {48, 300}) {
    const auto one = run(1, block);
    for (const int threads : {2, 3, 8}) CHECK(run(threads, block) == one);
  }
}

TEST_CASE("gemv agrees with the loop") {
  check_gemv<1>();
  check_gemv<2>();
  check_gemv<4>();
  check_gemv<8>();
}

TEST_CASE("a NaN in a reaches its row and no other") {
  auto a = numbers(4 * 8);
  a[8] = std::numeric_limits<float>::quiet_NaN();
  const Aligned b(pack::panels(numbers(8 * 3, 2), {.k = 8, .n = 3, .nr = 2 * Vec::width}));
  std::vector<float> c(12);
  gemm<6, 2>({}, a.data(), b.p, c.data(), {.m = 4, .n = 3, .k = 8, .lda = 8, .ldc = 3}, Epilogue<AddRelu, Single<float>>{{a.data()}});
  for (int i = 0; i < 12; ++i) CHECK(std::isnan(c[size_t(i)]) == (i / 3 == 1));
}

TEST_CASE("pairs lie as their documentation shows") {
  CHECK(pack::pairs({1, 2, 3, 4, 5, 6}, 3, 2) == std::vector<float>{1, 2, 4, 5, 3, 6});
}

TEST_CASE("panels hold the matrix as their documentation shows") {
  const std::vector<float> b = {1, 2, 3, 4, 5, 6}, bt = {1, 4, 2, 5, 3, 6}, expected = {1, 2, 4, 5, 3, 0, 6, 0};
  CHECK(pack::panels(b, {.k = 2, .n = 3, .nr = 2}) == expected);
  CHECK(pack::panels(bt, {.k = 2, .n = 3, .nr = 2, .transposed = true}) == expected);
  CHECK(pack::conv(std::vector<float>{0, 1, 10, 11}, {.cout = 1, .cin = 2, .kh = 1, .kw = 2, .nr = 2}) ==
        std::vector<float>{0, 0, 10, 0, 1, 0, 11, 0});
}

TEST_CASE("gemm_scaled multiplies each image by weights scaled for it") {
  const auto check_images = []<bool kPairs>(std::bool_constant<kPairs>, int64_t images, int64_t pixels, int64_t n, int64_t k) {
    constexpr int MR = 6, NV = 2, NR = NV * Vec::width - (kPairs ? Vec::width / 2 : 0);
    INFO("images " << images << " pixels " << pixels << " n " << n << " k " << k << " pairs " << kPairs);
    const auto packed = [&](const std::vector<float>& matrix) {
      const auto panels = pack::panels(matrix, {.k = k, .n = n, .nr = NR});
      return kPairs ? pack::pairs(panels, NR, Vec::width) : panels;
    };
    const auto x = numbers(images * pixels * k, 1), w = numbers(k * n, 2), s = numbers(images * k, 3), bias = numbers(n, 4),
               residual = numbers(images * pixels * n, 5);
    const Aligned panels(packed(w)), packed_bias(pack::padded(bias, NR));
    const GemmParams p{.m = images * pixels, .n = n, .k = k, .lda = k, .ldc = n, .bias = packed_bias.p};
    const Epilogue<AddRelu, Rows<float>> epi{{residual.data(), n}};
    std::vector<float> wanted(size_t(images * pixels * n), kGuard);
    for (int64_t image = 0; image < images; ++image) {
      auto scaled = w;
      for (int64_t i = 0; i < k * n; ++i) scaled[size_t(i)] *= s[size_t(image * k + i / n)];
      GemmParams of_image = p;
      of_image.m = pixels;
      const Aligned of(packed(scaled));
      gemm<MR, NV, kPairs>(Share{}, x.data() + image * pixels * k, of.p, wanted.data() + image * pixels * n, of_image,
                           Epilogue<AddRelu, Rows<float>>{{residual.data() + image * pixels * n, n}});
    }
    for (const int threads : {1, 3}) {
      std::vector<float> got(wanted.size(), kGuard);
      for (int i = 0; i < threads; ++i) {
        const Scratch scaled(1, contract::gemm_scaled_scratch(k, n, NR), std::numeric_limits<float>::quiet_NaN());
        gemm_scaled<MR, NV, kPairs>(Share{i, threads}, x.data(), panels.p, s.data(), got.data(), scaled.of(0), p, pixels, epi);
      }
      CHECK(got == wanted);
    }
  };
  for (const int64_t images : {0, 1, 3}) {
    for (const int64_t pixels : {1, 25, 64}) {
      check_images(std::false_type{}, images, pixels, 2 * Vec::width + 3, 5);
      check_images(std::bool_constant<kHasPairs>{}, images, pixels, 2 * Vec::width + 3, 6);
    }
  }
}
