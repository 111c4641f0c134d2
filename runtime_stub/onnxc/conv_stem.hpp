// The first convolution of a network: reads a planar image of few channels as the user gives it, writes channels-last.
//
//   conv_stem<14, 2, 2>(part, image, w, y, {.h = 224, .w = 224, .cin = 3, .oh = 112, .ow = 112, .cout = 64, .kh = 7, .kw = 7, .stride_y = 2,
//                                           .stride_x = 2, .pad_top = 3, .pad_left = 3, .y_pixel = 64, .bias = w_bias}, Epilogue<Relu>{});
//
// x: [n, cin, h, w]. w packed: [ceil(cout / NR)][(ci * kh + ky) * kw + kx][NR] (pack::conv_stem). group 1; x_pixel is not used.
//
// A tile is MR neighbours of one output row. In the middle of the image it reads x in place: pixel i of a tap lies i * stride_x further. At
// the sides the rows of x that it needs are copied with their padding first: cin * kh * ((MR - 1) * stride_x + (kw - 1) * dilation_x + 1)
// floats, at most kStemFloats.
//
// The stride along a row is a template argument, so that the pixels of a tile are displacements from one pointer: kernel rows are short, and setting
// up MR pointers for each would take as long as the products. 0: any stride and dilation.
#pragma once
#include "conv.hpp"

namespace onnxc::inline ONNXC_ISA {

constexpr int64_t kStemFloats = 4096;

namespace detail {

/// acc[i] += line[i * SX + kx] * w[kx] for kx in [0, kw).
template <int SX, int MR, int NV>
ONNXC_INLINE void stem_row(Tile<MR, NV>& tile, const float* line, int64_t kw, const float* w) {
  for (int64_t kx = 0; kx < kw; ++kx, ++line, w += NV * Vec::width) {
    const float* const pixel = opaque(line);  // g++ 12 would keep values for the step after next, on the stack
    Vec b[NV];
    ONNXC_UNROLL for (int j = 0; j < NV; ++j) b[j] = Vec::load(w + j * Vec::width);
    ONNXC_UNROLL for (int i = 0; i < MR; ++i) {
      const Vec a = Vec::all(pixel[i * SX]);
      ONNXC_UNROLL for (int j = 0; j < NV; ++j) tile.acc[i][j] = fma(a, b[j], tile.acc[i][j]);
    }
  }
}

template <int MR, int NV, int SX, class Epi>
ONNXC_INLINE void stem_tile(const float* x, const float* w, float* y, int64_t panel, int64_t row, int64_t oy, int64_t ox, int64_t count,
                            const ConvParams& p, const Epi& epi) {
  constexpr int NR = NV * Vec::width;
  const int64_t span = (MR - 1) * p.stride_x + (p.kw - 1) * p.dilation_x + 1, left = ox * p.stride_x - p.pad_left;
  const bool inside = left >= 0 && left + span <= p.w;
  float copy[kStemFloats];
  float* free = copy;
  const float* wt = w + panel * p.cin * p.kh * p.kw * NR;
  Tile<MR, NV> tile;
  tile.start(p.bias != nullptr ? p.bias + panel * NR : kZeros);
  for (int64_t ci = 0; ci < p.cin; ++ci) {
    for (int64_t ky = 0; ky < p.kh; ++ky, wt += p.kw * NR) {
      const int64_t iy = oy * p.stride_y - p.pad_top + ky * p.dilation_y;
      if (iy < 0 || iy >= p.h) continue;
      const float* line = x + (ci * p.h + iy) * p.w + left;
      if (!inside) {
        for (int64_t i = 0; i < span; ++i) free[i] = left + i >= 0 && left + i < p.w ? line[i] : 0.0f;
        line = free;
        free += span;
      }
      if constexpr (SX > 0) {
        stem_row<SX>(tile, line, p.kw, wt);
      } else {
        const Ahead ahead(wt);
        const float* rows[MR];
        for (int64_t i = 0; i < MR; ++i) rows[i] = line + i * p.stride_x;
        for (int64_t kx = 0; kx < p.kw; ++kx) {
          tile.add(rows, 1, wt + kx * NR, ahead);
          for (const float*& r : rows) r += p.dilation_x;
        }
      }
    }
  }
  tile.finish(y, p.y_pixel, panel * NR, count, p.cout - panel * NR, [row](int64_t i) { return row + i; }, epi);
}

/// Output row oy of `image` to pixels `row` on of y.
template <int MR, int NV, int SX, class Epi>
ONNXC_INLINE void stem_line(const float* image, const float* w, float* y, int64_t row, int64_t oy, const ConvParams& p, const Epi& epi) {
  constexpr int NR = NV * Vec::width, kHalf = (MR + 1) / 2;
  const int64_t panels = (p.cout + NR - 1) / NR;
  // The rows of x that the next output row adds: in pieces too short for the processor to see them coming.
  const int64_t below = oy * p.stride_y - p.pad_top + (p.kh - 1) * p.dilation_y + 1, end = below + p.stride_y < p.h ? below + p.stride_y : p.h;
  for (int64_t ci = 0; ci < p.cin; ++ci) {
    for (int64_t iy = below > 0 ? below : 0; iy < end; ++iy) {
      const float* const line = image + (ci * p.h + iy) * p.w;
      for (int64_t i = 0; i < p.w; i += 16) __builtin_prefetch(line + i);
    }
  }
  for (int64_t panel = 0; panel < panels; ++panel) {
    int64_t ox = 0;
    for (; p.ow - ox > kHalf; ox += MR) stem_tile<MR, NV, SX>(image, w, y, panel, row + ox, oy, ox, p.ow - ox, p, epi);
    if (ox < p.ow) stem_tile<kHalf, NV, SX>(image, w, y, panel, row + ox, oy, ox, p.ow - ox, p, epi);
  }
}

}  // namespace detail

/// See the head of the file. SX: stride_x where dilation_x is 1, or 0.
template <int MR, int NV, int SX, class Epi = Epilogue<Keep>>
void conv_stem(Part part, const float* x, const float* w, float* y, ConvParams p, Epi epi = {}) {
  const auto [first, last] = part.slice(p.n * p.oh);
  for (int64_t line = first; line < last; ++line) detail::stem_line<MR, NV, SX>(x + line / p.oh * p.cin * p.h * p.w, w, y, line * p.ow, line % p.oh, p, epi);
}

}  // namespace onnxc
