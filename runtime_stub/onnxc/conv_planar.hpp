// Convolution of a planar image to few channels, planar too: vectors run along the rows of the image, where those of other kernels run over output
// channels, most of which would stay empty. The first layer of a small network: 28x28x1 -> 6 by 5x5 takes 2.3 us where conv_stem takes 5.0 (Sapphire
// Rapids, 2026-11).
//
//   conv_planar<6, 2>(part, image, w, y, scratch, {.h = 28, .w = 28, .cin = 1, .oh = 28, .ow = 28, .cout = 6, .kh = 5, .kw = 5, .pad_top = 2, .pad_left = 2,
//                                                  .bias = w_bias}, Epilogue<Relu>{});
//
// x: [n, cin, h, w], y: [n, cout, oh, ow], w as ONNX has it: [cout, cin, kh, kw]. MR is cout; stride_x 1, group 1; x_pixel and y_pixel are not used. The
// epilogue sees the output as a matrix [n * cout, oh * ow]. scratch: conv_planar_scratch floats for each part.
//
// It is the register tile with the roles exchanged: its rows are output channels, its panel is a row of the image, each step of k a float further. The
// rows that a band of outputs needs are copied with their padding first, so that every tap of every vector can be read.
#pragma once
#include "conv.hpp"

namespace onnxc::inline ONNXC_ISA {

constexpr int64_t kPlanarBand = 16;  // output rows

namespace detail {
/// Floats of a row of the copy, and its rows.
template <int NV>
constexpr int64_t planar_pitch(const ConvParams& p) {
  constexpr int64_t NR = NV * Vec::width;
  return (p.ow + NR - 1) / NR * NR + (p.kw - 1) * p.dilation_x;
}
constexpr int64_t planar_rows(const ConvParams& p, int64_t rows) { return (rows - 1) * p.stride_y + (p.kh - 1) * p.dilation_y + 1; }
}  // namespace detail

template <int NV>
constexpr int64_t conv_planar_scratch(const ConvParams& p) {
  return p.cin * detail::planar_rows(p, p.oh < kPlanarBand ? p.oh : kPlanarBand) * detail::planar_pitch<NV>(p);
}

/// See the head of the file.
template <int MR, int NV, class Epi = Epilogue<Keep>>
void conv_planar(Part part, const float* x, const float* w, float* y, float* scratch, ConvParams p, Epi epi = {}) {
  constexpr int64_t NR = NV * Vec::width;
  const int64_t taps = p.cin * p.kh * p.kw, pitch = detail::planar_pitch<NV>(p), size = conv_planar_scratch<NV>(p), plane = size / p.cin;
  float* const padded = scratch + part.index * size;
  const auto [first, last] = part.slice(p.n * p.oh);
  const Ahead ahead(w);
  for (int64_t unit = first; unit < last;) {
    const int64_t n = unit / p.oh, top = unit % p.oh, left = last - unit < p.oh - top ? last - unit : p.oh - top, rows = left < kPlanarBand ? left : kPlanarBand;
    for (int64_t ci = 0; ci < p.cin; ++ci) {
      for (int64_t line = 0; line < detail::planar_rows(p, rows); ++line) {
        const int64_t iy = top * p.stride_y - p.pad_top + line;
        const float* const from = x + ((n * p.cin + ci) * p.h + iy) * p.w;
        float* const to = padded + ci * plane + line * pitch;
        const int64_t end = p.pad_left + p.w < pitch ? p.pad_left + p.w : pitch;
        const bool inside = iy >= 0 && iy < p.h;
        for (int64_t i = 0; i < (inside ? p.pad_left : pitch); ++i) to[i] = 0;
        if (!inside) continue;
        for (int64_t i = p.pad_left; i < end; ++i) to[i] = from[i - p.pad_left];
        for (int64_t i = end; i < pitch; ++i) to[i] = 0;
      }
    }
    for (int64_t oy = 0; oy < rows; ++oy) {
      for (int64_t ox = 0; ox < p.ow; ox += NR) {
        Tile<MR, NV> tile;
        ONNXC_UNROLL for (int i = 0; i < MR; ++i) {
          ONNXC_UNROLL for (int j = 0; j < NV; ++j) tile.acc[i][j] = Vec::all(p.bias != nullptr ? p.bias[i] : 0.0f);
        }
        for (int64_t ci = 0; ci < p.cin; ++ci) {
          for (int64_t ky = 0; ky < p.kh; ++ky) {
            const float* const line = padded + ci * plane + (oy * p.stride_y + ky * p.dilation_y) * pitch + ox;
            tile.add(EvenRows{w + (ci * p.kh + ky) * p.kw, taps}, p.kw, line, ahead, p.dilation_x);
          }
        }
        tile.finish(y, p.oh * p.ow, (top + oy) * p.ow + ox, MR, p.ow - ox, [n](int64_t i) { return n * MR + i; }, epi);
      }
    }
    unit += rows;
  }
}

}  // namespace onnxc
