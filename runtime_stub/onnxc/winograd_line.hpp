// Convolution of stride 1 after Winograd along one direction alone: F(T, R) makes T outputs of A = T + R - 1 inputs of
// a line with A products where direct summation needs T R: F(4,3) 6 for 12. Lines are the image's rows, or its columns
// where `down`. Signals are images of one row. Any dilation, any pads, group 1.
//
// The kernel has R taps along the line and any number across. A kernel with one tap across may also be longer: it goes
// in pieces of R taps, the last filled with zeros. F(4,3) has 30 products where 15 taps need 60.
//
//   y(tile) = A^T [ sum over k of (G w(k)) * (B^T x(line + k, tile)) ],   * elementwise, summed over input channels:
//                                                                         a GEMM for each frequency
//
//   winograd_line<4, 3, 14, 2>(share, x, u, y, v, {.h = 7, .w = 7, .cin = 512, .oh = 7, .ow = 7, .cout = 512, .kh = 3, .kw = 3,
//                                                  .pad_top = 1, .pad_left = 1, .x_pixel = 512, .y_pixel = 512, .bias = w_bias},
//                              7, 2, Epilogue<Relu>{});
//
// Its weights grow by A / R, those of winograd.hpp by the square of that. So it suits layers that are bound by the
// stream of weights, and kernels that are not square. With dilation d a tile takes every d-th pixel, and d tiles lie
// interlaced.
//
// u = G w is made at compile time, in double: [ceil(cout / NR)][A][taps across or pieces][cin][NR]
// (pack::winograd_line). Blocks have `lines` output lines by `width` tiles. The lines of the input are transformed to v
// [frequency][piece][line][tile][cin], then for each panel all frequencies are multiplied to m [frequency][line,
// tile][NR], where row t is tile t % width of output line t / width. v: winograd_line_scratch floats of this share,
// 64-byte aligned.
//
// The error is at most that of winograd.hpp with as many points; with eight points it is that of six points in both
// directions.
#pragma once
#include "winograd.hpp"

namespace onnxc::inline ONNXC_ISA {

/// Floats of scratch for one share; `taps` and `dilation` are the kernel's across the lines, `length` its taps along
/// them.
template <int T, int R, int NV>
constexpr int64_t winograd_line_scratch(int64_t cin, int64_t taps, int64_t dilation, int64_t lines, int64_t width, int64_t length = R) {
  constexpr contract::WinogradForm form{T, R};
  return contract::winograd_line_scratch(
      form, contract::winograd_line_planes(cin, form.pieces(length), taps, dilation, lines, width, NV * Vec::width));
}

namespace detail {

/// A direction of the image. x_step and y_step lead from one position to the next: in floats of x, in pixels of y.
struct Direction {
  int64_t in, out, taps, dilation, pad, x_step, y_step;
};

/// The first output of a tile. The outputs of a tile are `dilation` apart.
template <int T>
ONNXC_INLINE int64_t line_tile_start(int64_t tile, int64_t dilation) {
  return dilation == 1 ? tile * T : tile % dilation + tile / dilation * dilation * T;
}

/// Whether the tile of these A pixels is spoilt; those outside of the image are null. `all`: its transformed squares.
template <int A, int T>
ONNXC_NOCLONE bool winograd_line_is_spoilt(const float* const* pixel, int64_t cin, float all, float limit) {
  float squares[1][A];
  for (int i = 0; i < A; ++i) squares[0][i] = pixel[i] == nullptr ? 0.0f : winograd_square(pixel[i], cin, winograd_scale(all));
  return winograd_is_spoilt(squares, 1, T, 1, A - T + 1, 1, limit);
}

/// Transforms tiles [tile, tile + width) of one input line, from tap `from` on, to v [tile][pitch] of each frequency;
/// `line` is null outside of the image. Marks tiles that are spoilt, and returns whether any is.
template <int A, int T>
ONNXC_INLINE bool winograd_line_forward(const float* line, const Direction& along, int64_t from, int64_t cin, int64_t tile, int64_t width,
                                        float* v, int64_t plane, int64_t pitch) {
  using Probes = WinogradProbes<T, A - T + 1>;
  const float limit = winograd_spread(cin) * A / (A - T + 1);
  bool any = false;
  for (int64_t t = 0; t < width; ++t) {
    WinogradSquares<Probes::count> squares;
    const int64_t first = line_tile_start<T>(tile + t, along.dilation) - along.pad + from * along.dilation;
    const float* pixel[A];
    for (int64_t i = 0; i < A; ++i) {
      const int64_t at = first + i * along.dilation;
      pixel[i] = line != nullptr && at >= 0 && at < along.in ? line + at * along.x_step : nullptr;
    }
    for (int64_t c = 0; c < cin; c += Vec::width) {
      const int64_t lanes = cin - c < Vec::width ? cin - c : Vec::width;
      Vec in[A], out[A];
      ONNXC_UNROLL for (int i = 0; i < A; ++i) {
        in[i] = pixel[i] == nullptr ? Vec::all(0.0f) : lanes == Vec::width ? Vec::load(pixel[i] + c) : Vec::load(pixel[i] + c, lanes);
        if (Probes::at(i) >= 0) squares.probe(Probes::at(i), in[i]);
      }
      winograd_input<A>(in, out);
      ONNXC_UNROLL for (int i = 0; i < A; ++i) {
        out[i].store(v + i * plane + t * pitch + c);
        if (winograd_is_added<A, T>(i)) squares.add(out[i]);
      }
    }
    const bool spoilt =
        squares.suspect(limit * winograd_gain<A>()) &&
        winograd_line_is_spoilt<A, T>(pixel, cin, sum(squares.all), T == 2 ? std::numeric_limits<float>::infinity() : limit);
    v[t * pitch + contract::winograd_mark(cin)] = spoilt ? 1.0f : 0.0f;
    any |= spoilt;
  }
  return any;
}

/// Sums the tile from output `start` of line `line` on directly, for a vector of output channels, without bias. u: its
/// weights, frequencies `u_plane` apart, each [tap or piece][cin][NR].
template <int T, int R, int NR>
ONNXC_NOCLONE void winograd_line_direct(const float* image, const Direction& along, const Direction& across, int64_t start, int64_t line,
                                        int64_t cin, const float* u, int64_t u_plane, Vec* out) {
  constexpr int A = T + R - 1;
  for (int i = 0; i < T; ++i) out[i] = Vec::all(0.0f);
  for (int64_t k = 0; k < across.taps; ++k) {
    for (int64_t piece = 0; piece < along.taps; piece += R) {
      const int64_t iy = line - across.pad + k * across.dilation, tap = across.taps > 1 ? k : piece / R;
      if (iy < 0 || iy >= across.in) continue;
      for (int64_t c = 0; c < cin; ++c) {
        Vec frequencies[A], w[R];
        for (int f = 0; f < A; ++f) frequencies[f] = Vec::load(u + f * u_plane + (tap * cin + c) * NR);
        winograd_taps_of<A, R>(frequencies, w);
        winograd_clear_zeros(w, R);
        for (int i = 0; i < T; ++i) {
          for (int r = 0; r < R && piece + r < along.taps; ++r) {
            const int64_t ix = start + (i + piece + r) * along.dilation - along.pad;
            if (ix >= 0 && ix < along.in) out[i] = fma(Vec::all(image[iy * across.x_step + ix * along.x_step + c]), w[r], out[i]);
          }
        }
      }
    }
  }
}

}  // namespace detail

/// See the head of the file. `lines` and `width`: the size of a block in output lines and tiles;
/// A * lines * width * cin floats should fit half of L2.
template <int T, int R, int MR, int NV, bool down = false, class Epi = Epilogue<Keep>>
ONNXC_NOCLONE void winograd_line(Share share, const float* x, const float* u, float* y, float* v, ConvParams p, int64_t lines,
                                 int64_t width, Epi epi = {}) {
  constexpr int A = T + R - 1, NR = NV * Vec::width;
  const detail::Direction rows{p.h, p.oh, p.kh, p.dilation_y, p.pad_top, p.w * p.x_pixel, p.ow},
      columns{p.w, p.ow, p.kw, p.dilation_x, p.pad_left, p.x_pixel, 1};
  const detail::Direction &along = down ? rows : columns, &across = down ? columns : rows;
  const int64_t pitch = contract::winograd_pitch(p.cin), panels = (p.cout + NR - 1) / NR,
                tiles = contract::winograd_line_tiles(T, along.out, along.dilation);
  const int64_t halo = (across.taps - 1) * across.dilation, pieces = (along.taps + R - 1) / R, taps = across.taps * pieces;
  const contract::WinogradPlanes planes = contract::winograd_line_planes(p.cin, pieces, across.taps, across.dilation, lines, width, NR);
  const int64_t plane = planes.inputs, m_plane = planes.products;
  const int64_t bands = (across.out + lines - 1) / lines, ranges = (tiles + width - 1) / width, blocks = p.n * bands * ranges;
  const bool by_blocks = blocks >= share.count;
  const auto [first, last] = by_blocks ? share.slice(blocks) : Share::Range{0, blocks};
  const auto [first_panel, last_panel] = by_blocks ? Share::Range{0, panels} : share.slice(panels);
  float* const m = v + A * plane;
  for (int64_t block = first; block < last && first_panel < last_panel; ++block) {
    const int64_t n = block / (bands * ranges), top = block / ranges % bands * lines, from = block % ranges * width;
    const int64_t height = across.out - top < lines ? across.out - top : lines, wide = tiles - from < width ? tiles - from : width,
                  count = height * wide;
    const float* const image = x + n * p.h * p.w * p.x_pixel;
    bool spoilt = false;
    for (int64_t piece = 0; piece < pieces; ++piece) {
      for (int64_t line = 0; line < height + halo; ++line) {
        const int64_t at = top + line - across.pad;
        const float* const of = at >= 0 && at < across.in ? image + at * across.x_step : nullptr;
        spoilt |= detail::winograd_line_forward<A, T>(of, along, piece * R, p.cin, from, wide, v + (piece * height + line) * wide * pitch,
                                                      plane, pitch);
      }
    }
    Prefetcher ahead(u + panels * A * taps * p.cin * NR, p.weights_end);
    for (int64_t panel = first_panel; panel < last_panel; ++panel) {
      const int64_t size = taps * p.cin * NR, tap_step = (pieces > 1 ? height : across.dilation) * wide * pitch;
      detail::winograd_products<MR, NV>({v, plane, pitch, count, p.cin, taps, tap_step, u + panel * A * size, size, m, m_plane}, A, ahead,
                                        true, false);
      GridPoint point(0, height, wide);
      for (int64_t t = 0; t < count; ++t, point.advance()) {
        const int64_t start = detail::line_tile_start<T>(from + point.x, along.dilation),
                      line = n * p.oh * p.ow + (top + point.y) * across.y_step;
        bool direct = false;
        for (int64_t k = 0; spoilt && k < taps; ++k) direct |= v[t * pitch + k * tap_step + contract::winograd_mark(p.cin)] != 0;
        for (int j = 0; j < NV; ++j) {
          const int64_t channel = panel * NR + j * Vec::width, lanes = p.cout - channel;
          if (lanes <= 0) break;
          Vec in[A], out[T];
          if (direct) {
            Vec sums[T];
            detail::winograd_line_direct<T, R, NR>(image, along, across, start, top + point.y, p.cin, u + panel * A * size + j * Vec::width,
                                                   size, sums);
            ONNXC_UNROLL for (int i = 0; i < T; ++i) out[i] = sums[i];
          } else {
            ONNXC_UNROLL for (int i = 0; i < A; ++i) in[i] = Vec::load(m + i * m_plane + t * NR + j * Vec::width);
            detail::winograd_output<A, T>(in, out);
          }
          const Vec bias = p.bias != nullptr ? Vec::load(p.bias + channel) : Vec::all(0.0f);
          ONNXC_UNROLL for (int i = 0; i < T; ++i) {
            const int64_t at = start + i * along.dilation;
            if (at < along.out) {
              const int64_t row = line + at * along.y_step;
              finish_lanes(epi, out[i] + bias, row, channel, y + row * p.y_pixel + channel, lanes);
            }
          }
        }
      }
    }
  }
}

}  // namespace onnxc
