// Products and convolutions by multiply-adds on a GPU: the bits of a loop in ascending order of k.
#include <onnxc/gpu/conv_exact.hpp>
#include <onnxc/gpu/gemm_exact.hpp>

#include "tests/kernels/gpu/conv_cases.hpp"

using namespace onnxc;
using namespace onnxc::gpu;
using namespace onnxc::test;

namespace {

template <class T>
T multiplied(T a, T b, T c) {
  if constexpr (std::is_floating_point_v<T>) return std::fma(a, b, c);
  else return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b) + static_cast<uint64_t>(c));
}

/// Operands lie in ranges of memory without gaps, which p addresses.
template <class A, class B>
void check_gemm(const GemmExactParams& p, std::size_t a_count, std::size_t b_count) {
  CAPTURE(p.m, p.n, p.k, p.a_row, p.a_k, p.b_col, p.b_k);
  using Sum = typename gpu::detail::ExactSum<A>::Type;
  const auto a = numbers<A>(a_count, 1);
  const auto b = numbers<B>(b_count, 2);
  const auto y_count = static_cast<std::size_t>(p.outer * p.batch * p.m * p.n);
  std::vector<Sum> expected(y_count);
  for (std::size_t i = 0; i < y_count; ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t col = at % p.n, row = at / p.n % p.m, z = at / (p.n * p.m);
    const int64_t from_a = z / p.batch * p.a_outer + z % p.batch * p.a_batch + row * p.a_row;
    const int64_t from_b = z / p.batch * p.b_outer + z % p.batch * p.b_batch + col * p.b_col;
    Sum sum = 0;
    for (int64_t k = 0; k < p.k; ++k) {
      sum = multiplied(static_cast<Sum>(a[static_cast<std::size_t>(from_a + k * p.a_k)]),
                       static_cast<Sum>(b[static_cast<std::size_t>(from_b + k * p.b_k)]), sum);
    }
    expected[i] = sum;
  }
  const OnDevice<A> da(a);
  const OnDevice<B> db(b);
  const OnDevice<Sum> dy(y_count);
  const OnDevice<unsigned> words(std::vector<unsigned>(1));
  Queue queue(nullptr, words.data());
  gemm_exact(queue, dy.data(), da.data(), db.data(), p);
  REQUIRE(!queue.result());
  REQUIRE(dy.host() == expected);
}

template <class A, class B = A>
void check_sizes() {
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{1, 1, 1}, {3, 5, 4}, {64, 64, 16}, {65, 130, 17}, {70, 3, 47}, {4, 66, 0}}) {
    const auto us = [](int64_t v) { return static_cast<std::size_t>(v); };
    check_gemm<A, B>({.m = m, .n = n, .k = k, .a_row = k, .a_k = 1, .b_col = k, .b_k = 1, .y_stride = n}, us(m * k), us(n * k));
    check_gemm<A, B>({.m = m, .n = n, .k = k, .a_row = k, .a_k = 1, .b_col = 1, .b_k = n, .y_stride = n}, us(m * k), us(n * k));
    check_gemm<A, B>({.m = m, .n = n, .k = k, .a_row = 1, .a_k = m, .b_col = 2 * k, .b_k = 2, .y_stride = n}, us(m * k), us(2 * n * k));
  }
  // a is [2][3][20][9], b is [3][9][7] for each of the two.
  check_gemm<A, B>({.m = 20,
                    .n = 7,
                    .k = 9,
                    .a_row = 9,
                    .a_k = 1,
                    .b_col = 1,
                    .b_k = 7,
                    .y_stride = 7,
                    .batch = 3,
                    .a_batch = 180,
                    .b_batch = 63,
                    .y_batch = 140,
                    .outer = 2,
                    .a_outer = 540,
                    .b_outer = 0,
                    .y_outer = 420},
                   1080, 189);
}

template <class A, class B>
void check_conv(ConvParams p) {
  CAPTURE(p.h, p.w, p.cin, p.cout, p.kh, p.kw, p.group);
  p.x_pixel = p.cin + 1;
  p.y_pixel = p.cout;
  const auto x = numbers<A>(static_cast<std::size_t>(p.n * p.h * p.w * p.x_pixel), 1);
  const auto w = numbers<B>(static_cast<std::size_t>(p.cout * p.kh * p.kw * (p.cin / p.group)), 2);
  using Sum = typename gpu::detail::ExactSum<A>::Type;
  const OnDevice<A> dx(x);
  const OnDevice<B> dw(w);
  const OnDevice<Sum> dy(static_cast<std::size_t>(p.n * p.oh * p.ow * p.y_pixel));
  const OnDevice<unsigned> words(std::vector<unsigned>(1));
  Queue queue(nullptr, words.data());
  conv_exact(queue, dy.data(), dx.data(), dw.data(), p);
  REQUIRE(!queue.result());
  const auto y = dy.host();
  for (int64_t i = 0; i < static_cast<int64_t>(y.size()); ++i) {
    const auto [sum, size] = conv_sum(p, x, w, i / p.cout, i % p.cout, static_cast<double>(p.fill));
    const double error =
        std::is_integral_v<Sum> ? 0 : size * static_cast<double>(p.kh * p.kw * p.cin) * (std::is_same_v<Sum, double> ? 1.2e-16 : 6e-8);
    REQUIRE(std::abs(static_cast<double>(y[static_cast<std::size_t>(i)]) - sum) <= error);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("exact products on a GPU, at any strides", "", float, double, float16, bfloat16, int32_t, int64_t, uint8_t) {
  check_sizes<TestType>();
}

TEST_CASE("exact products of different bytes on a GPU") { check_sizes<uint8_t, int8_t>(); }

TEST_CASE("exact products on a GPU: the end, the order of blocks, infinities") {
  const auto a = numbers<float>(70 * 33, 1), b = numbers<float>(33 * 67, 2), bias = numbers<float>(67, 3);
  std::vector<float> with_inf = a;
  with_inf[33] = INFINITY;
  const OnDevice<float> da(with_inf), db(b), dbias(bias);
  for_orders([&] {
    const OnDevice<float> dy(70 * 67);
    const OnDevice<unsigned> words(std::vector<unsigned>(1));
    Queue queue(nullptr, words.data());
    gemm_exact(queue, dy.data(), da.data(), db.data(),
               {.m = 70, .n = 67, .k = 33, .a_row = 33, .a_k = 1, .b_col = 1, .b_k = 67, .y_stride = 67},
               Epilogue<AddRelu, PerCol<float>>{{dbias.data()}});
    const auto y = dy.host();
    for (std::size_t i = 0; i < y.size(); ++i) {
      float sum = 0;
      for (std::size_t k = 0; k < 33; ++k) sum = std::fma(with_inf[i / 67 * 33 + k], b[k * 67 + i % 67], sum);
      REQUIRE(y[i] == std::max(0.0f, sum + bias[i % 67]));
    }
  });
}

TEMPLATE_TEST_CASE("exact convolutions on a GPU", "", float, double, int8_t) {
  check_conv<TestType, TestType>(
      {.n = 2, .h = 5, .w = 7, .cin = 3, .oh = 5, .ow = 7, .cout = 9, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1});
  check_conv<TestType, TestType>({.n = 1,
                                  .h = 8,
                                  .w = 9,
                                  .cin = 6,
                                  .oh = 4,
                                  .ow = 3,
                                  .cout = 4,
                                  .kh = 3,
                                  .kw = 2,
                                  .stride_y = 2,
                                  .stride_x = 3,
                                  .dilation_x = 2,
                                  .pad_top = 1,
                                  .group = 2});
  check_conv<TestType, TestType>({.n = 2, .w = 30, .cin = 5, .ow = 30, .cout = 5, .kw = 3, .pad_left = 1, .group = 5});
  check_conv<TestType, TestType>({.n = 0, .h = 5, .w = 7, .cin = 3, .oh = 5, .ow = 7, .cout = 9});
}

TEST_CASE("exact convolutions of bytes on a GPU have a value outside of the image") {
  check_conv<uint8_t, int8_t>(
      {.n = 2, .h = 5, .w = 4, .cin = 3, .oh = 5, .ow = 4, .cout = 4, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1, .fill = 131});
}
