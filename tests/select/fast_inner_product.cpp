// How products by inner products in pairs are split into tiles and blocks.
#include "compiler/select/product/fast_inner_product.h"

#include <catch2/catch.hpp>

#include <cmath>

#include "compiler/select/weights/pack.h"
#include "runtime_stub/onnxc/contract/inner_product.hpp"

using namespace onnxc;

TEST_CASE("blocks of copied rows are whole tiles, few, and fit a cache") {
  const Target target = *find_target("x86-64-v4");
  for (const int64_t rows : {7, 8, 49, 57, 125, 196, 1000, 3136, 50'021}) {
    for (const int64_t k : {16, 30, 64, 512, 3072}) {
      for (const int64_t n : {1, 16, 24, 64, 768}) {
        const InnerProductPlan plan = plan_fast_inner_product(target, rows, n, k);
        INFO(rows << " rows, n " << n << ", k " << k << ": tiles of " << plan.rows << ", blocks of " << plan.block << ", weights read "
                  << plan.readings << " times");
        CHECK(plan.block >= 1);
        CHECK(plan.block <= rows);
        CHECK((plan.block % plan.rows == 0 || plan.block == rows));
        CHECK((plan.block <= plan.rows || 4 * plan.block * k <= target.l2_bytes));
        CHECK((plan.readings == 1 || plan.block * plan.readings >= rows));
        CHECK(plan.macs > 2.0 / 3 * double(rows) * double(n) * double(k));
      }
    }
  }
}

TEST_CASE("packed weights are exact multiples by powers of two") {
  constexpr int64_t k = 50, n = 19, nr = 16, panel = (k + 2) * nr;
  std::vector<float> b;
  for (int64_t i = 0; i < k * n; ++i)
    b.push_back(i % 11 == 3 || i / n == 7 || i % n == 5 ? 0.0f
                                                        : std::ldexp(static_cast<float>(i % 23 - 11), static_cast<int>(i * 31 % 50) - 25));
  const std::vector<float> packed = pack::fast_inner_product(b, {.k = k, .n = n, .nr = nr});
  REQUIRE(static_cast<int64_t>(packed.size()) == contract::inner_product_weights(k, n, nr));
  const auto at = [&](int64_t row, int64_t column) { return double(packed[size_t(column / nr * panel + row * nr + column % nr)]); };
  const auto of_row = [&](int64_t row) { return double(packed[size_t((n + nr - 1) / nr * panel + row)]); };
  std::vector<double> sums(n);
  int64_t place = 0, wrong = 0;
  const auto expect = [&](int64_t row) {
    for (int64_t column = 0; column < n; ++column)
      wrong += at(place, column) * of_row(row) * at(k + 1, column) != double(b[size_t(row * n + column)]);
    ++place;
  };
  // The first 48 steps are 16 groups of three: a pair, with w1 first, and one plain step. The two steps that are left
  // are one more pair.
  for (int64_t g = 0; g < 16; ++g) expect(16 + g), expect(g), expect(32 + g);
  expect(49), expect(48);
  CHECK(place == k);
  CHECK(wrong == 0);
  for (int64_t column = 0; column < n; ++column) {
    double products = at(48, column) * at(49, column);
    for (int64_t g = 0; g < 16; ++g) products += at(3 * g, column) * at(3 * g + 1, column);
    CHECK(std::fabs(at(k, column) + products) <= 1e-7 * std::fabs(products));
  }
  for (int64_t row = 0; row < k; ++row) CHECK(of_row(row) <= 1);
}
