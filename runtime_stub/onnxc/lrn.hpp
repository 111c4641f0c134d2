// Sums over neighbouring channels of channels-last images, the inner part of local response normalisation.
//
//   window_squares(share, x, y, {.pixels = 3136, .c = 64, .x_pixel = 64, .y_pixel = 64, .before = 2, .after = 2}, epilogue);
//
// The epilogue sees pixels by channels, as in pooling. LRN's has x itself as an operand, which it divides. Only c
// floats of a pixel are touched.
#pragma once
#include "passed.hpp"
#include "tile.hpp"

namespace onnxc::inline ONNXC_ISA {

struct ChannelWindowParams {
  int64_t pixels, c, x_pixel, y_pixel;
  int64_t before, after;  ///< channels of the window on either side
};

namespace detail {

/// Channels [at, at + width) of a pixel with c channels; 0 outside of these.
ONNXC_INLINE Vec load_channels(const float* pixel, int64_t at, int64_t c) {
  if (at >= 0) return Vec::load(pixel + at, c - at < Vec::width ? c - at : Vec::width);
  float lanes[Vec::width] = {};
  for (int64_t i = -at; i < Vec::width && at + i < c; ++i) lanes[i] = pixel[at + i];
  return Vec::load(lanes);
}

}  // namespace detail

/// y[pixel, ch] = epi(sum of x[pixel, k]^2 over k in [ch - before, ch + after] within the channels). y is not x.
template <class Epi = Epilogue<Keep>>
void window_squares(Share share, const float* x, float* y, Passed<ChannelWindowParams> p, Epi epi = {}) {
  const auto [first, last] = share.slice(p.pixels);
  for (int64_t row = first; row < last; ++row) {
    const float* const pixel = x + row * p.x_pixel;
    for (int64_t channel = 0; channel < p.c; channel += Vec::width) {
      // The offsets that reach any channel at all: windows may be wider than the image has channels.
      const int64_t low = -p.before > -(channel + Vec::width - 1) ? -p.before : -(channel + Vec::width - 1);
      const int64_t high = p.after < p.c - 1 - channel ? p.after : p.c - 1 - channel;
      Vec sum = Vec::all(0.0f);
      if (channel + low >= 0 && channel + high + Vec::width <= p.c) {
        for (int64_t k = low; k <= high; ++k) {
          const Vec v = Vec::load(pixel + channel + k);
          sum = fma(v, v, sum);
        }
      } else {
        for (int64_t k = low; k <= high; ++k) {
          const Vec v = detail::load_channels(pixel, channel + k, p.c);
          sum = fma(v, v, sum);
        }
      }
      float* const out = y + row * p.y_pixel + channel;
      finish_lanes(epi, sum, row, channel, out, p.c - channel);
    }
  }
}

}  // namespace onnxc::inline ONNXC_ISA
