// Convolution in small groups of channels-last images: GC channels in and GC out, where GC divides the vector, so that
// a vector holds whole groups.
//
//   conv_grouped<3, 1, 8, 14>(share, x, w, y, {.h = 28, .w = 28, .cin = 128, .oh = 28, .ow = 28, .cout = 128, .kh = 3, .pad_top = 1,
//                                              .pad_left = 1, .x_pixel = 128, .y_pixel = 128, .bias = w_bias}, Epilogue<Relu>{});
//
//   y[.., l] += x[.., channel i of l's group] * w[l, i]   for each i of GC:
//   a vector of x with one channel of each group in all of the group's lanes, times a vector of weights
//
// The tiles of conv.hpp would leave all lanes but GC empty. Here each pixel is loaded, and shuffled for each i, once
// for the KW outputs that it reaches.
//
// w packed: [vector of channels][ky][i][kx][Vec::width] (pack::grouped), bias: cout values or null, read by lanes at
// the tail. Parameters are conv's with dilation_x 1. The kernel's width, the stride along x, GC and the pixels of a
// step are template arguments.
#pragma once
#include "conv.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {

/// x with channel `i` of each group of GC lanes in all lanes of the group.
template <int GC, int i, std::size_t... lane>
ONNXC_INLINE Vec channel_of_groups(Vec x, std::index_sequence<lane...>) {
  return Vec::from_raw(shuffle<(static_cast<int>(lane) / GC * GC + i)...>(x.raw(), x.raw()));
}

/// Computes kPixels neighbours from column ox on. Edge: some taps lie outside of the image, or count < kPixels.
template <int KW, int SX, int GC, int kPixels, bool Edge, class Epi>
ONNXC_INLINE void grouped_step(const float* image, const float* w, Vec bias, float* y, int64_t row, int64_t top, int64_t ox,
                               int64_t channel, int64_t lanes, const ConvParams& p, const Epi& epi) {
  constexpr int kSpan = (kPixels - 1) * SX + KW;
  const int64_t left = ox * SX - p.pad_left, count = p.ow - ox;
  Vec acc[kPixels];
  ONNXC_UNROLL for (int t = 0; t < kPixels; ++t) acc[t] = bias;
  for (int64_t ky = 0; ky < p.kh; ++ky, w += GC * KW * Vec::width) {
    const int64_t iy = top + ky * p.dilation_y;
    if (iy < 0 || iy >= p.h) continue;
    const float* const line = image + (iy * p.w + left) * p.x_pixel + channel;
    const auto add = [&]<std::size_t i>(std::integral_constant<std::size_t, i>) ONNXC_INLINE_LAMBDA {
      Vec weights[KW];
      ONNXC_UNROLL for (int kx = 0; kx < KW; ++kx) weights[kx] = Vec::load(w + (static_cast<int>(i) * KW + kx) * Vec::width);
      const float* const pixels = opaque(line);
      ONNXC_UNROLL for (int u = 0; u < kSpan; ++u) {
        const float* pixel = pixels + u * p.x_pixel;
        if (Edge) pixel = left + u >= 0 && left + u < p.w ? pixel : kZeros;
        const Vec d = channel_of_groups<GC, static_cast<int>(i)>(lanes >= Vec::width ? Vec::load(pixel) : Vec::load(pixel, lanes),
                                                                 std::make_index_sequence<Vec::width>());
        ONNXC_UNROLL for (int kx = 0; kx < KW; ++kx) {
          if ((u - kx) % SX == 0 && u >= kx && (u - kx) / SX < kPixels) acc[(u - kx) / SX] = fma(d, weights[kx], acc[(u - kx) / SX]);
        }
      }
    };
    [&]<std::size_t... i>(std::index_sequence<i...>)
        ONNXC_INLINE_LAMBDA { (add(std::integral_constant<std::size_t, i>()), ...); }(std::make_index_sequence<GC>());
  }
  ONNXC_UNROLL for (int t = 0; t < kPixels; ++t) {
    if (!Edge || t < count) finish_lanes(epi, acc[t], row + t, channel, y + (row + t) * p.y_pixel + channel, lanes);
  }
}

}  // namespace detail

/// See the head of the file. x must not overlap y.
template <int KW, int SX, int GC, int kPixels, class Epi = Epilogue<Keep>>
void conv_grouped(Share share, const float* x, const float* w, float* y, ConvParams p, Epi epi = {}) {
  static_assert(Vec::width % GC == 0);
  constexpr int kSpan = (kPixels - 1) * SX + KW;
  const auto [first, last] = share.slice(p.n * p.oh);
  for (int64_t line = first; line < last; ++line) {
    const float* const image = x + line / p.oh * p.h * p.w * p.x_pixel;
    const int64_t top = line % p.oh * p.stride_y - p.pad_top;
    const float* panel = w;
    for (int64_t channel = 0; channel < p.cout; channel += Vec::width, panel += p.kh * GC * KW * Vec::width) {
      const int64_t lanes = p.cout - channel;
      const Vec bias = p.bias == nullptr ? Vec::all(0.0f) : Vec::load(p.bias + channel, lanes < Vec::width ? lanes : Vec::width);
      for (int64_t ox = 0; ox < p.ow; ox += kPixels) {
        const int64_t left = ox * SX - p.pad_left;
        if (left >= 0 && left + kSpan <= p.w && ox + kPixels <= p.ow && lanes >= Vec::width)
          detail::grouped_step<KW, SX, GC, kPixels, false>(image, panel, bias, y, line * p.ow + ox, top, ox, channel, Vec::width, p, epi);
        else detail::grouped_step<KW, SX, GC, kPixels, true>(image, panel, bias, y, line * p.ow + ox, top, ox, channel, lanes, p, epi);
      }
    }
  }
}

}  // namespace onnxc
