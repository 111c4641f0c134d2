// Depthwise convolution of channels-last images on small cores: any kernel, stride and dilation. Each channel has its own kernel.
//
//   depthwise_taps(share, x, w, y, {.h = 25, .w = 5, .cin = 64, .oh = 25, .ow = 5, .cout = 64, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1,
//                                   .x_pixel = 64, .y_pixel = 64, .bias = w_bias}, Epilogue<Relu>{});
//
// Weights, bias and parameters are as for depthwise, which see. A pixel is computed eight channels at a time, over those taps that lie
// inside of the image. Neighbouring channels are neighbours in memory, in the image and in the weights, so that cores with registers for
// single floats load eight in an instruction. To keep the taps of one channel in registers along a row would take fewer loads, but each of
// one float.
#pragma once
#include "conv.hpp"
#include "float_tiles.hpp"
#include "passed.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {

/// Taps [first, last) of a window from coordinate `origin` on that lie in [0, size).
struct TapRange {
  int first, last;
  ONNXC_INLINE TapRange(int origin, int taps, int dilation, int size) {
    first = origin < 0 ? dilation == 1 ? -origin : (-origin + dilation - 1) / dilation : 0;
    const int inside = size - origin;  // from the origin to the end
    last = inside <= 0 ? 0 : dilation == 1 ? inside : (inside - 1) / dilation + 1;
    if (last > taps) last = taps;
    if (first > last) first = last;
  }
};

/// The products of one pixel: all that does not depend on the epilogue. In numbers of the machine's size.
class PixelTaps {
 public:
  ONNXC_INLINE PixelTaps(const float* x, const float* w, const ConvParams& p)
      : x_(x),
        w_(w),
        bias_(p.bias),
        h_(static_cast<int>(p.h)),
        width_(static_cast<int>(p.w)),
        kh_(static_cast<int>(p.kh)),
        kw_(static_cast<int>(p.kw)),
        stride_y_(static_cast<int>(p.stride_y)),
        stride_x_(static_cast<int>(p.stride_x)),
        down_(static_cast<int>(p.dilation_y)),
        across_(static_cast<int>(p.dilation_x)),
        pad_top_(static_cast<int>(p.pad_top)),
        pad_left_(static_cast<int>(p.pad_left)),
        pixel_(static_cast<int>(p.x_pixel)),
        channels_(static_cast<int>(p.cout)) {}

  /// Moves to the output pixel (y, x) of image n.
  ONNXC_NOCLONE void move(int n, int y, int x) {
    const int top = y * stride_y_ - pad_top_, left = x * stride_x_ - pad_left_;
    const TapRange rows(top, kh_, down_, h_), columns(left, kw_, across_, width_);
    taps_.rows = rows.last - rows.first;
    taps_.columns = columns.last - columns.first;
    if (taps_.columns <= 0) taps_.rows = 0;
    taps_.x_tap = across_ * pixel_;
    taps_.x_row = down_ * width_ * pixel_ - taps_.columns * taps_.x_tap;
    taps_.w_tap = channels_;
    taps_.w_row = (kw_ - taps_.columns) * channels_;
    image_ = x_ + ((n * h_ + top + rows.first * down_) * static_cast<std::ptrdiff_t>(width_) + left + columns.first * across_) * pixel_;
    weights_ = w_ + (rows.first * kw_ + columns.first) * static_cast<std::ptrdiff_t>(channels_);
  }

  /// sums[j]: of channel + j, for j in [0, count), count <= 8.
  ONNXC_NOCLONE void multiply(float (&sums)[8], int channel, int count) const {
    const float* const from = bias_ != nullptr ? bias_ + channel : kZeros;
    if (kFloatTiles && count == 8 && taps_.rows > 0) return multiply_taps(sums, from, image_ + channel, weights_ + channel, taps_);
    if (kVectors > 0 && count == 8)
      return sum_taps < kVectors == 0 ? 1
                                      : kVectors > (sums, from, channel, [](const float* p) ONNXC_INLINE_LAMBDA { return Vec::load(p); });
    for (int j = 0; j < count; j += Vec::width) {
      const int lanes = count - j < Vec::width ? count - j : Vec::width;
      float some[Vec::width];
      sum_taps<1>(some, from + j, channel + j, [lanes](const float* p) ONNXC_INLINE_LAMBDA { return Vec::load(p, lanes); });
      for (int i = 0; i < lanes; ++i) sums[j + i] = some[i];
    }
  }

 private:
  static constexpr int kVectors = 8 / Vec::width;

  template <int vectors, class Load>
  ONNXC_INLINE void sum_taps(float* sums, const float* from, int channel, Load load) const {
    Vec sum[vectors];
    ONNXC_UNROLL for (int v = 0; v < vectors; ++v) sum[v] = load(from + v * Vec::width);
    const float *x = image_ + channel, *w = weights_ + channel;
    for (int ky = 0; ky < taps_.rows; ++ky, x += taps_.x_row, w += taps_.w_row) {
      for (int kx = taps_.columns; kx > 0; --kx, x += taps_.x_tap, w += taps_.w_tap) {
        ONNXC_UNROLL for (int v = 0; v < vectors; ++v) sum[v] = fma(load(x + v * Vec::width), load(w + v * Vec::width), sum[v]);
      }
    }
    ONNXC_UNROLL for (int v = 0; v < vectors; ++v) sum[v].store(sums + v * Vec::width);
  }

  const float *x_, *w_, *bias_;
  int h_, width_, kh_, kw_, stride_y_, stride_x_, down_, across_, pad_top_, pad_left_, pixel_, channels_;
  TapStrides taps_{};
  const float *image_ = nullptr, *weights_ = nullptr;  // of the first tap
};

}  // namespace detail

/// See the head of the file. x must not overlap y; operands of the epilogue may be y itself.
template <class Epi = Epilogue<Keep>>
void depthwise_taps(Share share, const float* x, const float* w, float* y, Passed<ConvParams> p, Epi epi = {}) {
  const auto [first, last] = share.slice(p.n * p.oh * p.ow);
  const int channels = static_cast<int>(p.cout);
  GridPoint point(first, p.oh, p.ow);
  detail::PixelTaps taps(x, w, p);
  for (Index pixel = first; pixel < last; ++pixel, point.advance()) {
    taps.move(static_cast<int>(point.n), static_cast<int>(point.y), static_cast<int>(point.x));
    float* const to = y + pixel * p.y_pixel;
    for (int channel = 0; channel < channels; channel += 8) {
      float sums[8];
      const int count = channels - channel < 8 ? channels - channel : 8;
      taps.multiply(sums, channel, count);
      if (Vec::width <= 8 && count == 8 && !ONNXC_LEAST_CODE) {
        ONNXC_UNROLL for (int j = 0; j < 8; j += Vec::width) finish_vector(epi, Vec::load(sums + j), pixel, channel + j, to + channel + j);
      } else {
        finish_row(epi, sums, pixel, channel, to + channel, count);
      }
    }
  }
}

}  // namespace onnxc::inline ONNXC_ISA
