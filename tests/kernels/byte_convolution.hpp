// What the tests of convolutions of bytes share: their shapes, and sums in 64 bits.
#pragma once
#include <cstdint>
#include <vector>

namespace onnxc::test {

/// x[n][h][w][cin], u8, by w[cout][cin / group][kh][kw], i8.
struct ByteConvolution {
  int64_t n, h, w, cin, cout, kh, kw, stride, dilation, pad, group;

  int64_t oh() const { return (h + 2 * pad - dilation * (kh - 1) - 1) / stride + 1; }
  int64_t ow() const { return (w + 2 * pad - dilation * (kw - 1) - 1) / stride + 1; }
  int64_t taps() const { return kh * kw; }

  /// Channel `c` of this pixel of the output. Pixels of x are x_pixel bytes apart; beyond the borders it is `outside`.
  int64_t sum(const uint8_t* x, int64_t x_pixel, uint8_t outside, const std::vector<int8_t>& weights, int64_t pixel, int64_t c) const {
    const int64_t image = pixel / (oh() * ow()), oy = pixel / ow() % oh(), ox = pixel % ow(), channels = cin / group;
    int64_t sum = 0;
    for (int64_t tap = 0; tap < taps(); ++tap) {
      const int64_t iy = oy * stride - pad + tap / kw * dilation, ix = ox * stride - pad + tap % kw * dilation;
      const bool inside = iy >= 0 && iy < h && ix >= 0 && ix < w;
      for (int64_t i = 0; i < channels; ++i) {
        const uint8_t value = inside ? x[((image * h + iy) * w + ix) * x_pixel + c / (cout / group) * channels + i] : outside;
        sum += int64_t{value} * weights[static_cast<std::size_t>((c * channels + i) * taps() + tap)];
      }
    }
    return sum;
  }
};

}  // namespace onnxc::test
