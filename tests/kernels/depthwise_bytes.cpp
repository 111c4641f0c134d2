// Depthwise convolutions of bytes against sums in 64 bits, to the bit: borders, strides, dilations, tails of channels and columns, threads,
// guard values around the output, and the end of the image.
#include <onnxc/depthwise_bytes.hpp>

#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <vector>

#include "tests/kernels/byte_convolution.hpp"
#include "tests/kernels/common.hpp"

using namespace onnxc;
using namespace onnxc::test;

namespace {

/// cast<Y>(x0 * x1 + 3)
template <class Y>
struct Requantise {
  template <class L, class X0, class X1>
  static ONNXC_INLINE auto apply(L lanes, X0 x0, X1 x1) {
    return fn::cast<Y>(fn::add(fn::round(fn::mul(fn::cast<float>(x0), x1)), lanes(3.0f)));
  }
};

/// A depthwise convolution of c channels.
struct Depthwise {
  int64_t n, h, w, c, kh, kw, stride, dilation, pad;
};

template <int R, int KW = 0>
void check(const Depthwise& g, int threads, unsigned seed) {
  const ByteConvolution reference{g.n, g.h, g.w, g.c, g.c, g.kh, g.kw, g.stride, g.dilation, g.pad, g.c};
  std::mt19937 random(seed);
  const auto byte = [&] { return random() % 5 == 0 ? random() % 2 * 255 : random() % 256; };
  const int64_t oh = reference.oh(), ow = reference.ow(), x_pixel = g.c + 4, y_pixel = g.c + 3, taps = g.kh * g.kw,
                quads = contract::quads(g.kh);
  REQUIRE((R == 1 || (g.dilation == 1 && (R - 1) * g.stride + g.kh <= 4 * quads)));
  const auto outside = static_cast<uint8_t>(byte());
  // Nothing beyond the last channel of the last pixel may be read.
  const auto x_size = static_cast<std::size_t>((g.n * g.h * g.w - 1) * x_pixel + g.c);
  const std::unique_ptr<uint8_t[]> x(new uint8_t[x_size]);
  for (std::size_t i = 0; i < x_size; ++i) x[i] = static_cast<uint8_t>(byte());
  std::vector<int8_t> w(static_cast<std::size_t>(g.c * taps)), packed;
  std::vector<int32_t> start(static_cast<std::size_t>(g.c));
  std::vector<float> factors(static_cast<std::size_t>(g.c));
  for (auto& v : w) v = static_cast<int8_t>(byte());
  for (auto& v : start) v = static_cast<int32_t>(random() % 20001) - 10000;
  for (auto& v : factors) v = 1e-4f * static_cast<float>(random() % 100);
  for (int64_t vector = 0; vector * Vec::width < g.c; ++vector) {
    for (int64_t i = 0; i < quads * g.kw * R * Vec::width * 4; ++i) {
      const int64_t b = i % 4, channel = vector * Vec::width + i / 4 % Vec::width, r = i / 4 / Vec::width % R,
                    kx = i / 4 / Vec::width / R % g.kw, quad = i / 4 / Vec::width / R / g.kw, ky = 4 * quad + b - r * g.stride;
      packed.push_back(channel < g.c && ky >= 0 && ky < g.kh ? w[static_cast<std::size_t>(channel * taps + ky * g.kw + kx)] : int8_t{0});
    }
  }
  const AlignedCopy<int8_t> weights(packed);
  const DepthwiseBytesParams p{.n = g.n,
                               .h = g.h,
                               .w = g.w,
                               .cin = g.c,
                               .oh = oh,
                               .ow = ow,
                               .cout = g.c,
                               .kh = g.kh,
                               .kw = g.kw,
                               .stride_y = g.stride,
                               .stride_x = g.stride,
                               .dilation_y = g.dilation,
                               .dilation_x = g.dilation,
                               .pad_top = g.pad,
                               .pad_left = g.pad,
                               .x_pixel = x_pixel,
                               .y_pixel = y_pixel,
                               .start = seed % 4 == 0 ? nullptr : start.data(),
                               .outside = outside};
  std::vector<int32_t> sums(static_cast<std::size_t>(g.n * oh * ow * y_pixel), -77);
  std::vector<uint8_t> bytes(sums.size(), 77);
  const AlignedCopy<uint8_t> scratch(
      std::vector<uint8_t>(static_cast<std::size_t>(contract::depthwise_bytes_scratch(g.kh, g.kw, g.stride, g.dilation, Vec::width))));
  for (int t = 0; t < threads; ++t) {
    depthwise_bytes<R, KW>({t, threads}, x.get(), weights, sums.data(), scratch.p, p);
    depthwise_bytes<R, KW>({t, threads}, x.get(), weights, bytes.data(), scratch.p, p,
                           Epilogue<Requantise<uint8_t>, PerCol<float>>{{factors.data()}});
  }
  for (int64_t pixel = 0; pixel < g.n * oh * ow; ++pixel) {
    for (int64_t c = 0; c < y_pixel; ++c) {
      const auto at = static_cast<std::size_t>(pixel * y_pixel + c);
      if (c >= g.c) {
        REQUIRE((sums[at] == -77 && bytes[at] == 77));
        continue;
      }
      const int64_t sum =
          (p.start == nullptr ? 0 : start[static_cast<std::size_t>(c)]) + reference.sum(x.get(), x_pixel, outside, w, pixel, c);
      REQUIRE(sums[at] == sum);
      REQUIRE(bytes[at] == Requantise<uint8_t>::apply(Scalar{}, static_cast<int32_t>(sum), factors[static_cast<std::size_t>(c)]));
    }
  }
}

}  // namespace

TEST_CASE("depthwise_bytes: sums are exact") {
  unsigned seed = 0;
  for (int64_t c : {1, 3, 4, 16, 17, 63, 64, 96, 131}) {
    for (int threads : {1, 3}) {
      check<2, 3>({1, 7, 9, c, 3, 3, 1, 1, 1}, threads, seed++);
      check<1, 3>({2, 9, 12, c, 3, 3, 2, 1, 1}, threads, seed++);
      check<1, 3>({1, 6, 5, c, 3, 3, 1, 2, 2}, threads, seed++);
      check<4>({1, 9, 11, c, 5, 5, 1, 1, 2}, threads, seed++);
      check<2>({1, 9, 11, c, 5, 5, 2, 1, 2}, threads, seed++);
      check<2>({1, 8, 8, c, 7, 7, 1, 1, 3}, threads, seed++);
      check<4>({2, 1, 40, c, 1, 4, 1, 1, 0}, threads, seed++);
      check<1, 3>({1, 4, 70, c, 4, 3, 1, 1, 3}, threads, seed++);
      check<2>({1, 3, 2, c, 3, 3, 1, 1, 5}, threads, seed++);
    }
  }
}
