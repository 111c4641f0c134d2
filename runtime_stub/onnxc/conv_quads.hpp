// Convolution of channels-last images of bytes as an implicit GEMM: conv.hpp with quads of bytes, four channels, in the place of floats.
//
//   conv_quads<14, 2>(share, x, w, y, scratch, {.h = 56, .w = 56, .cin = 16, .oh = 56, .ow = 56, .cout = 64, .kh = 3, .kw = 3, .pad_top = 1,
//                                               .pad_left = 1, .x_pixel = 16, .y_pixel = 64, .start = w_start, .outside = 128, .band = 4}, Epilogue<Requantise>{});
//
// The output is computed by bands of rows. What lies under a band is copied to `scratch` with the pixels outside of the image, so that no tile has
// borders, taps of a row are one run of quads, and each tap of a pixel lies at the same distance from its first one.
//
// cin and x_pixel count quads: pixels of x lie a multiple of four bytes apart. w packed: [group][ceil(cout_g / NR)][(ky * kw + kx) * cin_g + quad][NR] quads,
// with zeros for channels that only fill a quad, whose bytes in x may be any.
#pragma once
#include "contract/quads.hpp"
#include "contract/window.hpp"
#include "padded_rows.hpp"
#include "quad_tile.hpp"
#include "tile.hpp"

namespace onnxc::inline ONNXC_ISA {

struct QuadConvParams {
  int64_t n = 1, h = 1, w = 1, cin = 1;  // input
  int64_t oh = 1, ow = 1, cout = 1;      // output
  int64_t kh = 1, kw = 1, stride_y = 1, stride_x = 1, dilation_y = 1, dilation_x = 1, pad_top = 0, pad_left = 0, group = 1;
  int64_t x_pixel = 0, y_pixel = 0;    // from one pixel to the next: in quads of x, in elements of y
  const int32_t* start = nullptr;      // cout values, or null
  int64_t outside = 0;                 // the value of pixels outside of the image
  int64_t band = 1;                    // rows of the output
  const float* weights_end = nullptr;  // where the constants of the steps after this one end; null: w's are the last
};
static_assert(contract::has_usual_window(QuadConvParams{}) && QuadConvParams{}.group == contract::kUsualGroup);

namespace detail {

/// What lies under a band of rows of the output: the image itself, or a copy of some rows.
struct QuadBand {
  const Quad* first;   // under the first pixel of the band
  int64_t pixel, row;  // quads from one to the next

  /// Under pixel `x` of row `y` of the band.
  ONNXC_INLINE const Quad* at(const QuadConvParams& p, int64_t y, int64_t x) const {
    return first + y * p.stride_y * row + x * p.stride_x * pixel;
  }
};

/// Rows of the output from `line` on, in one image. Without scratch no window reaches beyond the image.
ONNXC_INLINE QuadBand quad_band(const uint8_t* x, uint8_t* scratch, int64_t line, int64_t rows, const QuadConvParams& p) {
  const int64_t image = line / p.oh, top = line % p.oh * p.stride_y - p.pad_top, x_row = p.w * p.x_pixel * 4;
  const uint8_t* const in = x + image * p.h * x_row;
  if (scratch == nullptr) return {reinterpret_cast<const Quad*>(in + top * x_row), p.x_pixel, p.w * p.x_pixel};
  const int64_t width = contract::inputs_under(p.ow, p.stride_x, p.kw, p.dilation_x),
                height = contract::inputs_under(rows, p.stride_y, p.kh, p.dilation_y);
  for (int64_t i = 0; i < height; ++i) {
    const int64_t iy = top + i;
    padded_row(scratch + i * width * p.cin * 4, width, iy >= 0 && iy < p.h ? in + iy * x_row : nullptr, p.w, p.cin * 4, p.x_pixel * 4,
               -p.pad_left, static_cast<uint8_t>(p.outside));
  }
  return {reinterpret_cast<const Quad*>(scratch), p.cin, width * p.cin};
}

/// Multiplies pixels [first, last) of a band by panels of one group. out: the band's first pixel.
template <int MR, int NV, class Y, class Epi>
ONNXC_INLINE void conv_quads_band(const QuadBand& band, int64_t first, int64_t last, Share::Range panels, const Quad* w, Y* y,
                                  int64_t pixel, int64_t first_channel, int64_t cin, int64_t cout, const int32_t* start,
                                  const QuadConvParams& p, TileOrder order, Prefetcher& ahead, const Epi& epi) {
  constexpr int NR = QuadTile<MR, NV>::NR;
  const bool joined = band.pixel == cin && p.dilation_x == 1;  // taps of a row are one run of quads
  const int64_t across = joined ? 1 : p.kw, run = joined ? cin * p.kw : cin;
  const int64_t steps = p.kh * p.kw * cin;
  for (int64_t panel = panels.begin; panel < panels.end; ++panel) {
    ahead.move(w + (panel + 1) * steps * NR, steps, NR * int64_t{sizeof(Quad)} * MR / (last - first));
    for_each_tile<MR>(last - first, order, [&]<int R>(int64_t i) ONNXC_INLINE_LAMBDA {
      const int64_t left = last - first - i, oy = (first + i) / p.ow, ox = (first + i) % p.ow;
      QuadTile<R, NV> tile;
      tile.start(start != nullptr ? start + panel * NR : nullptr, cout - panel * NR);
      const Quad* b = w + panel * steps * NR;
      const auto each_run = [&](auto add) ONNXC_INLINE_LAMBDA {
        for (int64_t ky = 0; ky < p.kh; ++ky) {
          for (int64_t kx = 0; kx < across; ++kx, b += run * NR) add(ky * p.dilation_y * band.row + kx * p.dilation_x * band.pixel);
        }
      };
      if (ox + R <= p.ow && R <= left) {
        const Quad* const from = band.at(p, oy, ox);
        each_run([&](int64_t offset) ONNXC_INLINE_LAMBDA {
          tile.add(EvenQuads{from + offset, p.stride_x * band.pixel * int64_t{sizeof(Quad)}}, run, b, ahead);
        });
      } else {
        const Quad* from[R];
        int64_t px = ox, py = oy;
        for (int64_t r = 0; r < R; ++r) {
          from[r] = band.at(p, py, px);
          if (r + 1 < left && ++px == p.ow) px = 0, ++py;
        }
        each_run([&](int64_t offset) ONNXC_INLINE_LAMBDA {
          const Quad* rows[R];
          for (int64_t r = 0; r < R; ++r) rows[r] = from[r] + offset;
          tile.add(static_cast<const Quad* const*>(rows), run, b, ahead);
        });
      }
      ahead.advance(steps);
      tile.finish(y, p.y_pixel, first_channel + panel * NR, left, cout - panel * NR, [&](int64_t r) { return pixel + first + i + r; }, epi);
    });
  }
}

}  // namespace detail

/// See the head of the file. x must not overlap y; operands of the epilogue may be y itself. scratch: contract::quad_band_bytes of this share; null if no window
/// reaches beyond the image, which is then read where it lies.
template <int MR, int NV, class Y, class Epi = Epilogue<Keep>>
void conv_quads(Share share, const uint8_t* x, const int8_t* w, Y* y, uint8_t* scratch, QuadConvParams p, Epi epi = {}) {
  constexpr int NR = QuadTile<MR, NV>::NR;
  const int64_t cin = p.cin / p.group, cout = p.cout / p.group, panels = (cout + NR - 1) / NR, pixels = p.n * p.oh * p.ow;
  const detail::ProductShare own(share, pixels, p.cout, p.kh * p.kw * cin, MR, panels * p.group);
  const TileOrder order(share, pixels * p.y_pixel * int64_t{sizeof(Y)} / 4);
  const auto* const weights = reinterpret_cast<const Quad*>(w);
  Prefetcher ahead(weights + p.group * panels * p.kh * p.kw * cin * NR, p.weights_end, kQuadsAhead);
  for (int64_t pixel = own.rows.begin, next; pixel < own.rows.end; pixel = next) {
    const int64_t line = pixel / p.ow, end = min_of(line + p.band, (line / p.oh + 1) * p.oh), begin = line * p.ow;
    next = min_of(end * p.ow, own.rows.end);
    const detail::QuadBand band = detail::quad_band(x, scratch, line, (next - 1) / p.ow + 1 - line, p);
    for (int64_t group = own.panels.begin / panels; group * panels < own.panels.end; ++group) {
      const Share::Range range{max_of(own.panels.begin - group * panels, int64_t{0}), min_of(own.panels.end - group * panels, panels)};
      detail::conv_quads_band<MR, NV>({band.first + group * cin, band.pixel, band.row}, pixel - begin, next - begin, range,
                                      weights + group * panels * p.kh * p.kw * cin * NR, y, begin, group * cout, cin, cout,
                                      p.start != nullptr ? p.start + group * cout : nullptr, p, order, ahead, epi);
    }
  }
}

}  // namespace onnxc::inline ONNXC_ISA
