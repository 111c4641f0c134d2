// Depthwise convolutions on a GPU against loops in double, in the emulator.
#include <onnxc/gpu/conv_depthwise.hpp>

#include "tests/kernels/gpu/conv_cases.hpp"

using namespace onnxc;
using namespace onnxc::gpu;
using namespace onnxc::test;

namespace {

template <int kKw, int kStride, class Y, class A, class B>
void check(ConvParams p, bool aligned) {
  CAPTURE(kKw, kStride, p.h, p.w, p.cin, p.kh, p.kw, p.stride_x, sizeof(A), aligned);
  constexpr auto chunk = static_cast<int64_t>(16 / sizeof(A));
  p.cout = p.group = p.cin;
  p.x_pixel = ceil_div(p.cin, chunk) * chunk + chunk;
  p.y_pixel = aligned ? p.x_pixel : p.cout + 1;
  const auto channels = static_cast<std::size_t>(p.cin), taps = static_cast<std::size_t>(p.kh * p.kw);
  const auto x =
      in_rows(numbers<A>(static_cast<std::size_t>(p.n * p.h * p.w) * channels, 1), channels, static_cast<std::size_t>(p.x_pixel));
  const auto w = numbers<B>(channels * taps, 2);  // [cout][taps]
  std::vector<B> turned(w.size());
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t t = 0; t < taps; ++t) turned[t * channels + c] = w[c * taps + t];
  }
  const auto bias = numbers<float>(channels, 3);
  const OnDevice<A> dx(x);
  const OnDevice<B> dw(in_rows(turned, channels, static_cast<std::size_t>(contract::gpu::row_of(p.cout, sizeof(B)))));
  const OnDevice<float> db(bias);
  const OnDevice<Y> dy(std::vector<Y>(static_cast<std::size_t>(p.n * p.oh * p.ow * p.y_pixel), static_cast<Y>(77.0f)));
  const OnDevice<unsigned> words(std::vector<unsigned>(1));
  Queue queue(nullptr, words.data());
  conv_depthwise<kKw, kStride>(queue, dy.data(), dx.data(), dw.data(), p, Epilogue<AddRelu, PerCol<float>>{{db.data()}});
  REQUIRE(!queue.result());
  const auto y = dy.host();
  for (int64_t pixel = 0; pixel < p.n * p.oh * p.ow; ++pixel) {
    for (int64_t co = 0; co < p.y_pixel; ++co) {
      const double got = value_of(y[static_cast<std::size_t>(pixel * p.y_pixel + co)]);
      if (co >= p.cout) {
        REQUIRE(got == 77);
        continue;
      }
      const auto [sum, size] = conv_sum(p, x, w, pixel, co, static_cast<double>(p.fill));
      const double wanted = std::max(0.0, sum + bias[static_cast<std::size_t>(co)]);
      const double rounding = std::is_same_v<Y, float> ? 1e-7 : std::is_same_v<Y, float16> ? std::ldexp(1, -11) : std::ldexp(1, -8);
      CAPTURE(pixel, co, got, wanted);
      REQUIRE(std::abs(got - wanted) <= size * static_cast<double>(p.kh * p.kw) * 6e-8 + (1 + wanted) * rounding);
    }
  }
}

template <class Y, class A, class B = A>
void check_all() {
  for (const bool aligned : {false, true}) {
    check<3, 1, Y, A, B>({.n = 2, .h = 5, .w = 19, .cin = 21, .oh = 5, .ow = 19, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1}, aligned);
    check<3, 2, Y, A, B>({.n = 1,
                          .h = 9,
                          .w = 22,
                          .cin = 16,
                          .oh = 5,
                          .ow = 11,
                          .kh = 3,
                          .kw = 3,
                          .stride_y = 2,
                          .stride_x = 2,
                          .pad_top = 1,
                          .pad_left = 1},
                         aligned);
    check<5, 1, Y, A, B>({.n = 1, .h = 4, .w = 9, .cin = 3, .oh = 4, .ow = 9, .kh = 5, .kw = 5, .pad_top = 2, .pad_left = 2}, aligned);
    check<5, 2, Y, A, B>(
        {.n = 1, .h = 7, .w = 40, .cin = 8, .oh = 4, .ow = 20, .kh = 5, .kw = 5, .stride_y = 2, .stride_x = 2, .pad_top = 2, .pad_left = 2},
        aligned);
    check<0, 0, Y, A, B>({.n = 1,
                          .h = 8,
                          .w = 12,
                          .cin = 5,
                          .oh = 4,
                          .ow = 3,
                          .kh = 2,
                          .kw = 4,
                          .stride_y = 2,
                          .stride_x = 3,
                          .dilation_y = 2,
                          .dilation_x = 2,
                          .pad_top = 1,
                          .pad_left = 1},
                         aligned);
  }
  check<3, 1, Y, A, B>({.n = 2, .w = 30, .cin = 9, .ow = 30, .kw = 3, .pad_left = 1}, false);
  check<3, 1, Y, A, B>({.n = 0, .h = 5, .w = 19, .cin = 21, .oh = 5, .ow = 19, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1}, false);
}

}  // namespace

TEST_CASE("depthwise convolutions of f32 on a GPU") { check_all<float, float>(); }

TEST_CASE("depthwise convolutions of halves on a GPU") {
  check_all<float16, float16>();
  check_all<bfloat16, bfloat16>();
  check_all<float, float16>();
}

TEST_CASE("depthwise convolutions of bytes on a GPU, with any value outside of the image") {
  check_all<float, int8_t>();
  check_all<float, uint8_t, int8_t>();
  check<3, 1, float, uint8_t, int8_t>(
      {.n = 1, .h = 5, .w = 9, .cin = 20, .oh = 5, .ow = 9, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1, .fill = 131}, false);
  check<0, 0, float, int8_t, int8_t>(
      {.n = 1, .h = 5, .w = 9, .cin = 20, .oh = 5, .ow = 9, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1, .fill = -5}, false);
}

TEST_CASE("the order of blocks and threads does not change a depthwise convolution on a GPU") {
  for_orders([] {
    check<3, 1, float, float, float>({.n = 2, .h = 5, .w = 19, .cin = 21, .oh = 5, .ow = 19, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1},
                                     false);
  });
}
