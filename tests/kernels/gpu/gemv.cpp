// Products of few rows on a GPU against loops in double, in the emulator.
#include <onnxc/gpu/gemv.hpp>

#include "tests/kernels/gpu/product_cases.hpp"

using namespace onnxc;
using namespace onnxc::gpu;
using namespace onnxc::test;

namespace {

template <int kRows, class A, class B>
std::vector<float> check(int64_t m, int64_t n, int64_t k, int64_t batch = 1) {
  CAPTURE(kRows, m, n, k, batch, sizeof(A), sizeof(B));
  const auto us = [](int64_t v) { return static_cast<std::size_t>(v); };
  const auto a = numbers<A>(us(batch * m * k), 1);
  const auto b = numbers<B>(us(batch * n * k), 2);
  const auto bias = numbers<float>(us(batch * m * n), 3);
  GemmParams p{.m = m,
               .n = n,
               .k = k,
               .a_stride = contract::gpu::row_of(k, sizeof(A)),
               .b_stride = contract::gpu::row_of(k, sizeof(B)),
               .y_stride = n + 1};
  p.batch = batch;
  p.a_batch = m * p.a_stride;
  p.b_batch = n * p.b_stride;
  p.y_batch = m * p.y_stride;
  const OnDevice<A> da(in_rows(a, us(k), us(p.a_stride)));
  const OnDevice<B> db(in_rows(b, us(k), us(p.b_stride)));
  const OnDevice<float> dbias(bias), dy(std::vector<float>(us(batch * m * (n + 1)), 77.0f));
  const OnDevice<unsigned> words(std::vector<unsigned>(1));
  Queue queue(nullptr, words.data());
  gemv<kRows>(queue, dy.data(), da.data(), db.data(), p, Epilogue<AddRelu, Rows<float>>{{dbias.data(), n}});
  REQUIRE(!queue.result());
  const auto y = dy.host();
  for (int64_t row = 0; row < batch * m; ++row) {
    for (int64_t col = 0; col <= n; ++col) {
      const double got = y[us(row * (n + 1) + col)];
      if (col == n) {
        REQUIRE(got == 77);
        continue;
      }
      double sum = bias[us(row * n + col)], size = 0;
      for (int64_t i = 0; i < k; ++i) {
        const double product = value_of(a[us(row * k + i)]) * value_of(b[us((row / m * n + col) * k + i)]);
        sum += product;
        size += std::abs(product);
      }
      CAPTURE(row, col, got, sum);
      REQUIRE(std::abs(got - std::max(0.0, sum)) <= size * (static_cast<double>(k) / 128 + 12) * std::ldexp(1, -24) + 1e-6);
    }
  }
  return y;
}

template <class A, class B>
void check_all() {
  check<1, A, B>(1, 9, 700);
  check<1, A, B>(1, 4, 1, 3);
  check<2, A, B>(2, 6, 67);
  check<4, A, B>(3, 5, 129);
  check<8, A, B>(8, 13, 1100, 2);
  check<8, A, B>(5, 1, 31);
  check<1, A, B>(1, 3, 0);
  check<1, A, B>(0, 3, 5);
}

}  // namespace

TEST_CASE("products of few rows on a GPU") {
  check_all<float, float>();
  check_all<float, float16>();
  check_all<float, bfloat16>();
  check_all<float16, float16>();
  check_all<bfloat16, bfloat16>();
  check_all<float16, float>();
}

TEST_CASE("the order of blocks and threads does not change a product of few rows on a GPU") {
  std::vector<float> first;
  for_orders([&] {
    const auto y = check<4, float, float16>(4, 11, 600);
    if (first.empty()) first = y;
    REQUIRE(y == first);
  });
}
