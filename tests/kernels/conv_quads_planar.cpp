// Convolutions of planar images of bytes against sums in 64 bits, to the bit: few channels, tails of kernel rows and of output rows, borders, strides, threads.
#include <onnxc/conv_quads_planar.hpp>

#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <vector>

#include "tests/kernels/byte_convolution.hpp"
#include "tests/kernels/common.hpp"

using namespace onnxc;
using namespace onnxc::test;

namespace {

/// [panels][ci][ky][quad of kx][NR][4]
std::vector<int8_t> packed(const ByteConvolution& g, const std::vector<int8_t>& w, int64_t nr) {
  std::vector<int8_t> out;
  for (int64_t first = 0; first < g.cout; first += nr) {
    for (int64_t row = 0; row < g.cin * g.kh; ++row) {
      for (int64_t quad = 0; quad < contract::quads(g.kw); ++quad) {
        for (int64_t c = first; c < first + nr; ++c) {
          for (int64_t kx = 4 * quad; kx < 4 * quad + 4; ++kx)
            out.push_back(c < g.cout && kx < g.kw ? w[static_cast<std::size_t>((c * g.cin * g.kh + row) * g.kw + kx)] : int8_t{0});
        }
      }
    }
  }
  return out;
}

template <int MR, int NV>
void check(const ByteConvolution& g, int threads, unsigned seed) {
  std::mt19937 random(seed);
  const int64_t oh = g.oh(), ow = g.ow(), y_pixel = g.cout + 2, pixels = g.h * g.w;
  const auto size = static_cast<std::size_t>(g.n * g.cin * pixels);
  const std::unique_ptr<uint8_t[]> x(new uint8_t[size]);  // of exactly this size: a sanitizer sees reads beyond it
  std::vector<uint8_t> last(size);
  for (std::size_t i = 0; i < size; ++i) x[i] = static_cast<uint8_t>(i % 5 == 0 ? 255 : random());
  for (int64_t image = 0; image < g.n; ++image) {
    for (int64_t c = 0; c < g.cin; ++c) {
      for (int64_t i = 0; i < pixels; ++i)
        last[static_cast<std::size_t>((image * pixels + i) * g.cin + c)] = x[static_cast<std::size_t>((image * g.cin + c) * pixels + i)];
    }
  }
  std::vector<int8_t> w(static_cast<std::size_t>(g.cout * g.cin * g.taps()));
  for (auto& v : w) v = static_cast<int8_t>(random());
  std::vector<int32_t> start(static_cast<std::size_t>(g.cout)), y(static_cast<std::size_t>(g.n * oh * ow * y_pixel), -77);
  for (auto& v : start) v = static_cast<int32_t>(random() % 20001) - 10000;
  const auto outside = static_cast<uint8_t>(random());
  const AlignedCopy<int8_t> panels(packed(g, w, QuadTile<MR, NV>::NR));
  const auto scratch_bytes = static_cast<std::size_t>(g.cin * g.kh * contract::planar_quads_row(ow, g.stride, g.kw));
  const std::unique_ptr<uint8_t[]> scratch(new uint8_t[scratch_bytes]);
  const PlanarQuadConvParams p{.n = g.n,
                               .h = g.h,
                               .w = g.w,
                               .cin = g.cin,
                               .oh = oh,
                               .ow = ow,
                               .cout = g.cout,
                               .kh = g.kh,
                               .kw = g.kw,
                               .stride_y = g.stride,
                               .stride_x = g.stride,
                               .dilation_y = 1,
                               .dilation_x = 1,
                               .pad_top = g.pad,
                               .pad_left = g.pad,
                               .y_pixel = y_pixel,
                               .start = start.data(),
                               .outside = outside};
  for (int t = 0; t < threads; ++t) conv_quads_planar<MR, NV>({t, threads}, x.get(), panels, y.data(), scratch.get(), p);
  for (int64_t pixel = 0; pixel < g.n * oh * ow; ++pixel) {
    for (int64_t c = 0; c < y_pixel; ++c) {
      const int64_t expected =
          c < g.cout ? start[static_cast<std::size_t>(c)] + g.sum(last.data(), g.cin, outside, w, pixel, c) : int64_t{-77};
      REQUIRE(y[static_cast<std::size_t>(pixel * y_pixel + c)] == expected);
    }
  }
}

}  // namespace

TEST_CASE("conv_quads_planar: sums of bytes") {
  unsigned seed = 0;
  for (const ByteConvolution& g :
       {ByteConvolution{.n = 1, .h = 7, .w = 9, .cin = 1, .cout = 5, .kh = 3, .kw = 3, .stride = 1, .dilation = 1, .pad = 1, .group = 1},
        ByteConvolution{.n = 2, .h = 11, .w = 23, .cin = 3, .cout = 40, .kh = 3, .kw = 3, .stride = 2, .dilation = 1, .pad = 1, .group = 1},
        ByteConvolution{
            .n = 1, .h = 12, .w = 20, .cin = 1, .cout = 64, .kh = 10, .kw = 4, .stride = 2, .dilation = 1, .pad = 3, .group = 1},
        ByteConvolution{.n = 1, .h = 9, .w = 40, .cin = 2, .cout = 17, .kh = 7, .kw = 7, .stride = 2, .dilation = 1, .pad = 3, .group = 1},
        ByteConvolution{.n = 1, .h = 3, .w = 3, .cin = 1, .cout = 3, .kh = 1, .kw = 5, .stride = 1, .dilation = 1, .pad = 4, .group = 1},
        ByteConvolution{
            .n = 1, .h = 1, .w = 64, .cin = 3, .cout = 33, .kh = 1, .kw = 9, .stride = 3, .dilation = 1, .pad = 0, .group = 1}}) {
    for (int threads : {1, 3}) {
      check<4, 1>(g, threads, ++seed);
      check<6, 2>(g, threads, ++seed);
      check<14, 2>(g, threads, ++seed);
    }
  }
}
