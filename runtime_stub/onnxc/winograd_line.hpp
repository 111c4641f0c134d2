// Convolution with kernels three wide and of stride 1, after Winograd along the rows alone: F(2,3) makes 2 outputs of 4 inputs with 4 products where 6
// are needed, F(4,3) 4 outputs of 6 inputs with 6 where 12 are. Any height of the kernel, any dilation, any pads; signals are images of one row.
//
//   y(tile) = A^T [ sum over ky of (G w(ky)) * (B^T x(line + ky, tile)) ],   * elementwise, summed over input channels: a GEMM for each frequency
//
//   winograd_line<2, 14, 2>(part, x, u, y, scratch, {.h = 7, .w = 7, .cin = 512, .oh = 7, .ow = 7, .cout = 512, .kh = 3, .kw = 3, .pad_top = 1,
//                                                    .pad_left = 1, .x_pixel = 512, .y_pixel = 512, .bias = w_bias}, 7, 4, Epilogue<Relu>{});
//
// Against winograd.hpp its weights grow by (T + 2) / 3 instead of by the square of that, so it suits layers that are bound by the stream of weights, and
// kernels that are not 3x3. With dilation d a tile takes every d-th pixel, and d tiles lie interlaced.
//
// u = G w is made at compile time, in double: [ceil(cout / NR)][T + 2][kh][cin][NR] (pack::winograd_line). group 1. Blocks of `rows` output rows by `width`
// tiles: the input's lines are transformed to v [frequency][line][tile][cin], then for each panel all frequencies to m [frequency][row, tile][NR].
// scratch: winograd_line_scratch floats for each part, 64-byte aligned.
//
// Row t of m is tile t % width of output row t / width. Error as winograd.hpp's F(T,3), or less. What it brought: docs/performance.md.
#pragma once
#include "winograd.hpp"

namespace onnxc::inline ONNXC_ISA {

/// Tiles in one row of `ow` outputs.
template <int T>
constexpr int64_t winograd_line_tiles(int64_t ow, int64_t dilation) {
  const int64_t longest = (ow + dilation - 1) / dilation;  // outputs of one phase
  return (longest + T - 1) / T * dilation;
}

/// Floats of scratch for one part.
template <int T, int NV>
constexpr int64_t winograd_line_scratch(int64_t cin, int64_t kh, int64_t dilation_y, int64_t rows, int64_t width) {
  const int64_t lines = rows + (kh - 1) * dilation_y;
  return (T + 2) * (detail::winograd_plane(lines * width * detail::winograd_pitch(cin)) + detail::winograd_plane(rows * width * NV * Vec::width));
}

namespace detail {

/// The first output of a tile: those of a phase are `dilation` apart.
template <int T>
ONNXC_INLINE int64_t line_tile_start(int64_t tile, int64_t dilation) {
  return dilation == 1 ? tile * T : tile % dilation + tile / dilation * dilation * T;
}

/// Tiles [tile, tile + width) of one input line to v [tile][pitch] of each frequency; `line` is null outside of the image.
template <int T>
ONNXC_INLINE void winograd_line_forward(const float* line, int64_t tile, int64_t width, float* v, int64_t plane, int64_t pitch, const ConvParams& p) {
  constexpr int A = T + 2;
  const int64_t d = p.dilation_x;
  for (int64_t t = 0; t < width; ++t) {
    const int64_t left = line_tile_start<T>(tile + t, d) - p.pad_left;
    const float* pixel[A];
    for (int64_t i = 0; i < A; ++i) {
      const int64_t ix = left + i * d;
      pixel[i] = line != nullptr && ix >= 0 && ix < p.w ? line + ix * p.x_pixel : nullptr;
    }
    for (int64_t c = 0; c < p.cin; c += Vec::width) {
      const int64_t lanes = p.cin - c < Vec::width ? p.cin - c : Vec::width;
      Vec in[A], out[A];
      ONNXC_UNROLL for (int i = 0; i < A; ++i)
        in[i] = pixel[i] == nullptr ? Vec::all(0.0f) : lanes == Vec::width ? Vec::load(pixel[i] + c) : Vec::load(pixel[i] + c, lanes);
      winograd_input<T>(in, out);
      ONNXC_UNROLL for (int i = 0; i < A; ++i) out[i].store(v + i * plane + t * pitch + c);
    }
  }
}

}  // namespace detail

/// See the head of the file. `rows` and `width`: the size of a block, in output rows and tiles; (T + 2) * lines * width * cin floats should fit half of L2.
template <int T, int MR, int NV, class Epi = Epilogue<Keep>>
ONNXC_ONE_COPY void winograd_line(Part part, const float* x, const float* u, float* y, float* scratch, ConvParams p, int64_t rows, int64_t width, Epi epi = {}) {
  constexpr int A = T + 2, NR = NV * Vec::width;
  const int64_t pitch = detail::winograd_pitch(p.cin), panels = (p.cout + NR - 1) / NR, tiles = winograd_line_tiles<T>(p.ow, p.dilation_x);
  const int64_t plane = detail::winograd_plane((rows + (p.kh - 1) * p.dilation_y) * width * pitch), m_plane = detail::winograd_plane(rows * width * NR);
  const int64_t bands = (p.oh + rows - 1) / rows, ranges = (tiles + width - 1) / width, blocks = p.n * bands * ranges;
  const bool by_blocks = blocks >= part.count;
  const auto [first, last] = by_blocks ? part.slice(blocks) : Part::Range{0, blocks};
  const auto [first_panel, last_panel] = by_blocks ? Part::Range{0, panels} : part.slice(panels);
  float* const v = scratch + part.index * winograd_line_scratch<T, NV>(p.cin, p.kh, p.dilation_y, rows, width);
  float* const m = v + A * plane;
  for (int64_t block = first; block < last && first_panel < last_panel; ++block) {
    const int64_t n = block / (bands * ranges), top = block / ranges % bands * rows, from = block % ranges * width;
    const int64_t height = p.oh - top < rows ? p.oh - top : rows, across = tiles - from < width ? tiles - from : width, count = height * across;
    const float* const image = x + n * p.h * p.w * p.x_pixel;
    for (int64_t line = 0; line < height + (p.kh - 1) * p.dilation_y; ++line) {
      const int64_t iy = top + line - p.pad_top;
      detail::winograd_line_forward<T>(iy >= 0 && iy < p.h ? image + iy * p.w * p.x_pixel : nullptr, from, across, v + line * across * pitch, plane, pitch, p);
    }
    Ahead ahead(u + panels * A * p.kh * p.cin * NR, p.weights_end);
    for (int64_t panel = first_panel; panel < last_panel; ++panel) {
      for (int f = 0; f < A; ++f) {
        const int64_t size = p.kh * p.cin * NR;
        const float* const uf = u + (panel * A + f) * size;
        ahead.move(uf + size, p.cin, NR * 4 * MR / count);
        const int64_t tap_step = p.dilation_y * across * pitch;
        detail::winograd_gemm<MR, NV>(v + f * plane, pitch, p.cin, p.kh, tap_step, uf, ahead, m + f * m_plane, count);
      }
      GridPlace place(0, height, across);
      for (int64_t t = 0; t < count; ++t, place.advance()) {
        const int64_t ox = detail::line_tile_start<T>(from + place.x, p.dilation_x), line = (n * p.oh + top + place.y) * p.ow;
        for (int j = 0; j < NV; ++j) {
          const int64_t channel = panel * NR + j * Vec::width, lanes = p.cout - channel;
          if (lanes <= 0) break;
          Vec in[A], out[T];
          ONNXC_UNROLL for (int i = 0; i < A; ++i) in[i] = Vec::load(m + i * m_plane + t * NR + j * Vec::width);
          detail::winograd_output<T>(in, out);
          const Vec bias = p.bias != nullptr ? Vec::load(p.bias + channel) : Vec::all(0.0f);
          ONNXC_UNROLL for (int i = 0; i < T; ++i) {
            if (ox + i * p.dilation_x < p.ow) {
              const int64_t row = line + ox + i * p.dilation_x;
              float* const to = y + row * p.y_pixel + channel;
              finish_lanes(epi, out[i] + bias, row, channel, to, lanes);
            }
          }
        }
      }
    }
  }
}

}  // namespace onnxc
