// Convolution, and transposed convolution, to a few channels N, as in the last layer of networks that make an image.
// Vectors run along the input's channels, because the output's would leave most lanes of a panel empty.
//
//   conv_few_outputs<3>(share, x, w, y, {.h = 64, .w = 64, .cin = 32, .oh = 64, .ow = 64, .cout = 3, .kh = 9, .kw = 9,
//                                        .pad_top = 4, .pad_left = 4, .x_pixel = 32, .y_pixel = 3, .bias = w_bias}, Epilogue<Tanh>{});
//
// w packed: [taps][ceil(cin / Vec::width)][N][Vec::width], 64-byte aligned, zeros beyond cin (pack::few_outputs).
// Parameters are conv's, group 1. Each value is the sum of Vec::width chains of multiply-adds.
#pragma once
#include "conv_transpose.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {

/// Computes neighbours of grid row (n, gy) from column gx on, of which `count` are wanted. Edge: some taps lie outside
/// of the image, or count < kPixels.
template <int N, int kPixels, bool Edge, class Epi>
ONNXC_INLINE void few_outputs_step(const float* image, const float* w, float* y, int64_t row, int64_t gy, int64_t gx, int64_t count,
                                   const ConvParams& p, const PixelGrid& g, const Epi& epi) {
  const int64_t tap_floats = vectors(p.cin) * N * Vec::width, pitch = g.step_x * p.x_pixel;
  Vec acc[kPixels][N];
  ONNXC_UNROLL for (int i = 0; i < kPixels; ++i) { ONNXC_UNROLL for (int j = 0; j < N; ++j) acc[i][j] = Vec::all(0.0f); }
  for (int64_t ty = 0; ty < g.ky.count; ++ty) {
    const int64_t iy = gy * g.step_y + g.ky.offset + ty * g.ky.stride;
    if (iy < 0 || iy >= p.h) continue;
    for (int64_t tx = 0; tx < g.kx.count; ++tx) {
      const int64_t ix = gx * g.step_x + g.kx.offset + tx * g.kx.stride;
      const float* const pixel = image + (iy * p.w + ix) * p.x_pixel;
      const float* wt = w + ((g.ky.first + ty * g.ky.step) * p.kw + g.kx.first + tx * g.kx.step) * tap_floats;
      const auto add = [&](int64_t c, auto load) ONNXC_INLINE_LAMBDA {
        Vec weights[N];
        ONNXC_UNROLL for (int j = 0; j < N; ++j) weights[j] = Vec::load(wt + j * Vec::width);
        wt += N * Vec::width;
        ONNXC_UNROLL for (int i = 0; i < kPixels; ++i) {
          const float* at = pixel + i * pitch + c;
          if (Edge) at = i < count && ix + i * g.step_x >= 0 && ix + i * g.step_x < p.w ? at : kZeros;
          const Vec value = load(at);
          ONNXC_UNROLL for (int j = 0; j < N; ++j) acc[i][j] = fma(value, weights[j], acc[i][j]);
        }
      };
      int64_t c = 0;
      for (; c + Vec::width <= p.cin; c += Vec::width) add(c, [](const float* at) ONNXC_INLINE_LAMBDA { return Vec::load(at); });
      if (c < p.cin) add(c, [lanes = p.cin - c](const float* at) ONNXC_INLINE_LAMBDA { return Vec::load(at, lanes); });
    }
  }
  float sums[kPixels][N];
  ONNXC_UNROLL for (int i = 0; i < kPixels; ++i) {
    ONNXC_UNROLL for (int j = 0; j < N; ++j) sums[i][j] = (p.bias != nullptr ? p.bias[j] : 0.0f) + sum(acc[i][j]);
  }
  for (int64_t i = 0; i < kPixels && i < count; ++i)
    finish_row(epi, sums[i], row + i * g.out_step_x, 0, y + (row + i * g.out_step_x) * p.y_pixel, N);
}

/// Computes this share's pixels of the grid.
template <int N, class Epi>
ONNXC_INLINE void few_outputs_grid(Share share, const float* x, const float* w, float* y, const ConvParams& p, const PixelGrid& g,
                                   const Epi& epi) {
  constexpr int kPixels = N == 1 ? 8 : 4;
  const auto [first, last] = share.slice(g.n * g.gh);
  for (int64_t line = first; line < last; ++line) {
    const int64_t n = line / g.gh, gy = line % g.gh, row = g.out_first + n * g.out_image + (gy * g.out_step_y + g.out_y) * p.ow + g.out_x;
    for (int64_t gx = 0; gx < g.gw; gx += kPixels) {
      const int64_t left = gx * g.step_x + g.kx.low(), right = (gx + kPixels - 1) * g.step_x + g.kx.high(), count = g.gw - gx;
      if (left >= 0 && right < p.w && count >= kPixels)
        few_outputs_step<N, kPixels, false>(x + n * g.image, w, y, row + gx * g.out_step_x, gy, gx, count, p, g, epi);
      else few_outputs_step<N, kPixels, true>(x + n * g.image, w, y, row + gx * g.out_step_x, gy, gx, count, p, g, epi);
    }
  }
}

}  // namespace detail

/// See the head of the file. x must not overlap y.
template <int N, class Epi = Epilogue<Keep>>
void conv_few_outputs(Share share, const float* x, const float* w, float* y, ConvParams p, Epi epi = {}) {
  detail::few_outputs_grid<N>(share, x, w, y, p, detail::pixels_of(p), epi);
}

/// The same for parameters of conv_transpose: a convolution for each phase.
template <int N, class Epi = Epilogue<Keep>>
void conv_transpose_few_outputs(Share share, const float* x, const float* w, float* y, ConvParams p, Epi epi = {}) {
  detail::for_phases(p, [&](const detail::PixelGrid& g) { detail::few_outputs_grid<N>(share, x, w, y, p, g, epi); });
}

}  // namespace onnxc
