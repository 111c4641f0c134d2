// Sums of bytes against a loop: tails of both axes, strides, threads, epilogues that read operands, nothing read or written outside.
#include <onnxc/sum_bytes.hpp>

#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <vector>

using namespace onnxc;

namespace {

std::unique_ptr<uint8_t[]> random_bytes(int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::unique_ptr<uint8_t[]> x(new uint8_t[static_cast<std::size_t>(n)]);  // of exactly this size: a sanitizer sees reads beyond it
  for (int64_t i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = static_cast<uint8_t>(i % 7 == 0 ? 255 : random());
  return x;
}

void check_last(int64_t outer, int64_t r, int64_t x_row, int threads) {
  const auto x = random_bytes((outer - 1) * x_row + r, static_cast<unsigned>(r));
  std::vector<int32_t> y(static_cast<std::size_t>(outer) + 1, 77);
  for (int t = 0; t < threads; ++t) sum_bytes_last({t, threads}, x.get(), y.data(), {.outer = outer, .r = r, .x_row = x_row});
  for (int64_t o = 0; o < outer; ++o) {
    int64_t sum = 0;
    for (int64_t i = 0; i < r; ++i) sum += x[static_cast<std::size_t>(o * x_row + i)];
    REQUIRE(y[static_cast<std::size_t>(o)] == sum);
  }
  REQUIRE(y.back() == 77);
}

void check_middle(ReduceParams p, int threads) {
  const auto x = random_bytes((p.outer - 1) * p.x_outer + (p.r - 1) * p.x_row + p.inner, static_cast<unsigned>(p.inner));
  std::vector<int32_t> y(static_cast<std::size_t>(p.outer * p.y_outer), 77);
  for (int t = 0; t < threads; ++t) sum_bytes_middle({t, threads}, x.get(), y.data(), p);
  for (int64_t o = 0; o < p.outer; ++o) {
    for (int64_t j = 0; j < p.y_outer; ++j) {
      int64_t sum = 0;
      for (int64_t i = 0; i < p.r; ++i) sum += j < p.inner ? x[static_cast<std::size_t>(o * p.x_outer + i * p.x_row + j)] : 0;
      REQUIRE(y[static_cast<std::size_t>(o * p.y_outer + j)] == (j < p.inner ? sum : 77));
    }
  }
}

}  // namespace

TEST_CASE("sum_bytes_last: sums of rows") {
  for (int64_t r : {1, 3, 15, 16, 17, 49, 63, 64, 65, 128, 200, 1000}) {
    for (int threads : {1, 3}) {
      check_last(5, r, r + 3, threads);
      check_last(1, r, r, threads);
    }
  }
}

TEST_CASE("sum_bytes_middle: sums of columns") {
  for (int64_t inner : {1, 3, 4, 15, 16, 17, 32, 33, 63, 64, 65, 130, 200}) {
    for (int64_t r : {1, 2, 3, 4, 5, 7, 49, 64}) {
      for (int threads : {1, 3}) {
        check_middle({.outer = 1, .r = r, .inner = inner, .x_row = inner, .x_outer = 0, .y_outer = inner}, threads);
        check_middle({.outer = 3, .r = r, .inner = inner, .x_row = inner + 5, .x_outer = r * (inner + 5), .y_outer = inner + 2}, threads);
      }
    }
  }
}

TEST_CASE("sum_bytes: the largest sums are exact") {
  constexpr int64_t kRows = 300000;
  std::vector<uint8_t> x(static_cast<std::size_t>(kRows), 255);
  int32_t y = 0;
  sum_bytes_last(Share{}, x.data(), &y, {.outer = 1, .r = kRows, .x_row = kRows});
  CHECK(y == 255 * kRows);
  y = 0;
  sum_bytes_middle(Share{}, x.data(), &y, {.outer = 1, .r = kRows, .inner = 1, .x_row = 1, .x_outer = 0, .y_outer = 1});
  CHECK(y == 255 * kRows);
}
