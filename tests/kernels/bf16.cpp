// Products of operands that are rounded to bfloat16, against sums in double of the rounded operands: tails of m, n and k, blocks, slices, shares,
// and bits of pairs that would be special as floats.
#include <onnxc/gemm_bf16.hpp>

#include <algorithm>
#include <cstring>
#include <limits>

#include "common.hpp"
#include "compiler/select/weights/pack.h"

#if defined(__AVX512BF16__) && defined(__AVX512F__) && !defined(ONNXC_NO_INTRINSICS)
using namespace onnxc;
using namespace onnxc::test;

namespace {

struct Case {
  int64_t m, n, k;
  int threads = 1;
  int64_t steps = 0, rows = 0;  // of slices
};

/// Packed weights as words of a pair each.
std::vector<float> packed_pairs(const std::vector<float>& b, pack::PanelShape shape) {
  const std::vector<uint16_t> codes = pack::bf16_pairs(b, shape);
  std::vector<float> words(codes.size() / 2);
  std::memcpy(words.data(), codes.data(), words.size() * sizeof(float));
  return words;
}

template <int MR, int NV, bool any = false>
void check(const Case& t) {
  INFO("m " << t.m << " n " << t.n << " k " << t.k << " threads " << t.threads << " tile " << MR << "x" << NV << " slices of " << t.steps);
  constexpr int64_t NR = NV * Vec::width;
  const int64_t lda = t.k + 3, ldc = t.n + 5, pairs = contract::bf16_pairs(t.k);
  const auto a = numbers(t.m * lda, 1), b = numbers(t.k * t.n, 2), bias = numbers(t.n, 3), residual = numbers(t.m * ldc, 4);
  const Aligned packed(packed_pairs(b, {.k = t.k, .n = t.n, .nr = NR})), packed_bias(pack::padded(bias, NR));
  const Unaligned x(std::vector<float>(a.begin(), a.end() - 3)), r(residual);
  std::vector<float> c(size_t(t.m * ldc) + 1, kGuard);
  const int64_t block = t.steps > 0 ? t.rows : contract::block_rows(pairs, any && t.m <= 4 ? 4 : MR);
  for (int i = 0; i < t.threads; ++i) {
    const Aligned scratch(std::vector<float>(size_t(contract::bf16_scratch(std::min(t.m, block), t.k)))),
        sums(std::vector<float>(size_t(contract::slices_scratch(t.rows, NR))));
    const GemmParams p{.m = t.m, .n = t.n, .k = t.k, .lda = lda, .ldc = ldc, .bias = packed_bias.p, .slices = {sums.p, t.steps, t.rows}};
    const Epilogue<AddRelu, Rows<float>> epilogue{{r.data(), ldc}};
    const auto* const w = reinterpret_cast<const bfloat16*>(packed.p);
    if constexpr (any) gemm_bf16_any<MR, NV>(Share{i, t.threads}, x.data(), w, c.data() + 1, scratch.p, p, epilogue);
    else gemm_bf16<MR, NV>(Share{i, t.threads}, x.data(), w, c.data() + 1, scratch.p, p, epilogue);
  }
  int64_t wrong = c[0] != kGuard;
  for (int64_t i = 0; i < t.m; ++i) {
    for (int64_t j = 0; j < ldc; ++j) {
      const float is = c[size_t(1 + i * ldc + j)];
      if (j >= t.n) {
        wrong += is != kGuard;
        continue;
      }
      double sum = bias[size_t(j)];
      for (int64_t s = 0; s < t.k; ++s) sum += double(bfloat16(a[size_t(i * lda + s)])) * double(bfloat16(b[size_t(s * t.n + j)]));
      sum = std::max(0.0, sum + double(residual[size_t(i * ldc + j)]));
      wrong += !(std::fabs(is - sum) <= sum_tolerance(t.k));
    }
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("products of bfloat16 are those of the rounded operands") {
  for (const int64_t m : {1, 2, 5, 8, 13, 31}) {
    for (const int64_t n : {1, 16, 33, 70}) {
      for (const int64_t k : {1, 2, 15, 32, 33, 47, 64, 131}) {
        check<8, 2>({m, n, k});
        check<7, 3>({m, n, k});
        check<6, 4, true>({m, n, k});
        check<14, 1>({m, n, k});
      }
    }
  }
}

TEST_CASE("products of bfloat16 in blocks, slices and shares") {
  check<8, 2>({300, 48, 2000});
  check<8, 2>({300, 48, 2000, 3});
  check<7, 3>({20, 500, 65, 4});
  check<8, 2>({61, 70, 301, 1, 64, 24});
  check<8, 2>({61, 70, 301, 2, 64, 24});
  check<6, 4, true>({3, 200, 99, 2});
}

// The first of a pair is 0 and the second 1, or the other way round: as a float the pair is 1 or subnormal. Pairs of infinities and NaNs are NaNs as
// floats, and must not change.
TEST_CASE("pairs of bfloat16 keep their bits") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<std::vector<float>> rows{{1, 0, 0, 1},         {0, 1, 1, 0},          {1e-30f, 0, 0, 3},
                                             {kInfinity, 1, 2, 3}, {1, -kInfinity, 2, 3}, {0, 0, 0, NAN}};
  const std::vector<float> weights{1, 10, 100, 1000};
  const Aligned packed(packed_pairs(weights, {.k = 4, .n = 1, .nr = 2 * Vec::width}));
  std::vector<float> c(rows.size());
  std::vector<float> a;
  for (const auto& row : rows) a.insert(a.end(), row.begin(), row.end());
  const auto m = int64_t(rows.size());
  const Aligned scratch(std::vector<float>(size_t(contract::bf16_scratch(m, 4))));
  const GemmParams p{.m = m, .n = 1, .k = 4, .lda = 4, .ldc = 1};
  gemm_bf16<8, 2>({}, a.data(), reinterpret_cast<const bfloat16*>(packed.p), c.data(), scratch.p, p);
  CHECK(c[0] == 1001);
  CHECK(c[1] == 110);
  CHECK(c[2] == 3000);
  CHECK(c[3] == kInfinity);
  CHECK(c[4] == -kInfinity);
  CHECK(std::isnan(c[5]));
}
#endif
