// Convolution of channels-last images of bytes as an implicit GEMM: conv.hpp with quads of bytes, four channels, in the place of floats.
//
//   conv_quads<14, 2>(share, x, w, y, {.h = 56, .w = 56, .cin = 16, .oh = 56, .ow = 56, .cout = 64, .kh = 3, .kw = 3, .pad_top = 1,
//                                      .pad_left = 1, .x_pixel = 16, .y_pixel = 64, .start = w_start, .outside = w_outside}, Epilogue<Requantise>{});
//
// cin and x_pixel count quads: pixels of x lie a multiple of four bytes apart. w packed: [group][ceil(cout_g / NR)][(ky * kw + kx) * cin_g + quad][NR] quads,
// with zeros for channels that only fill a quad, whose bytes in x may be any. Pixels outside of the image are read from `outside`.
#pragma once
#include "contract/quads.hpp"
#include "conv.hpp"
#include "quad_tile.hpp"

namespace onnxc::inline ONNXC_ISA {

struct QuadConvParams {
  int64_t n = 1, h = 1, w = 1, cin = 1;  // input
  int64_t oh = 1, ow = 1, cout = 1;      // output
  int64_t kh = 1, kw = 1, stride_y = 1, stride_x = 1, dilation_y = 1, dilation_x = 1, pad_top = 0, pad_left = 0, group = 1;
  int64_t x_pixel = 0, y_pixel = 0;  // from one pixel to the next: in quads of x, in elements of y
  const int32_t* start = nullptr;    // cout values, or null
  const uint8_t* outside = nullptr;  // contract::kOutsideBytes bytes of the zero point; null: no tap lies outside of the image
};
static_assert(contract::has_usual_window(QuadConvParams{}) && QuadConvParams{}.group == contract::kUsualGroup);

namespace detail {

/// Adds all taps of a panel.
template <int MR, int NV>
ONNXC_INLINE void add_quad_taps(QuadTile<MR, NV>& tile, const PixelTile<MR, Quad>& pixels, const Quad* w, int64_t cin,
                                const QuadConvParams& p, const PixelGrid& g) {
  constexpr int NR = QuadTile<MR, NV>::NR;
  const auto* const outside = reinterpret_cast<const Quad*>(p.outside);
  const bool joined = p.x_pixel == cin && g.kx.stride == 1 && pixels.inside;  // taps of a row are one run of quads
  const int64_t across = joined ? 1 : g.kx.count, run = joined ? cin * g.kx.count : cin;
  for (int64_t ty = 0; ty < g.ky.count; ++ty) {
    const int64_t dy = g.ky.offset + ty * g.ky.stride;
    for (int64_t tx = 0; tx < across; ++tx, w += run * NR) {
      const int64_t dx = g.kx.offset + tx * g.kx.stride;
      if (pixels.even && pixels.inside_row(p, dy, dx)) {
        const Quad* const first = pixels.image[0] + ((pixels.y[0] + dy) * p.w + pixels.x[0] + dx) * p.x_pixel;
        tile.add(EvenQuads{first, g.step_x * p.x_pixel * int64_t{sizeof(Quad)}}, run, w);
      } else {
        const Quad* rows[MR];
        pixels.tap(p, dy, dx, 0, rows, outside);
        for (int64_t c = 0; c < run; c += contract::kOutsideBytes / 4) {
          const int64_t some = run - c < contract::kOutsideBytes / 4 ? run - c : contract::kOutsideBytes / 4;
          tile.add(static_cast<const Quad* const*>(rows), some, w + c * NR);
          if (c + some < run) {
            for (const Quad*& row : rows) row = row == outside ? row : row + some;
          }
        }
      }
    }
  }
}

/// Multiplies pixels [first, last) by panels of one group.
template <int MR, int NV, class Y, class Epi>
ONNXC_INLINE void conv_quads_block(int64_t first, int64_t last, Share::Range panels, const Quad* in, const Quad* w, Y* out,
                                   int64_t first_channel, int64_t cin, int64_t cout, const int32_t* start, const QuadConvParams& p,
                                   const PixelGrid& g, TileOrder order, const Epi& epi) {
  constexpr int NR = QuadTile<MR, NV>::NR;
  const int64_t steps = p.kh * p.kw * cin;
  for (int64_t panel = panels.begin; panel < panels.end; ++panel) {
    for_each_tile<MR>(last - first, order, [&]<int R>(int64_t i) ONNXC_INLINE_LAMBDA {
      const PixelTile<R, Quad> pixels(p, g, in, GridPoint(first + i, g.gh, g.gw), last - first - i);
      QuadTile<R, NV> tile;
      tile.start(start != nullptr ? start + panel * NR : nullptr, cout - panel * NR);
      add_quad_taps(tile, pixels, w + panel * steps * NR, cin, p, g);
      tile.finish(
          out, p.y_pixel, first_channel + panel * NR, last - first - i, cout - panel * NR, [&](int64_t r) { return pixels.out[r]; }, epi);
    });
  }
}

}  // namespace detail

/// See the head of the file. x must not overlap y; operands of the epilogue may be y itself.
template <int MR, int NV, class Y, class Epi = Epilogue<Keep>>
void conv_quads(Share share, const uint8_t* x, const int8_t* w, Y* y, QuadConvParams p, Epi epi = {}) {
  constexpr int NR = QuadTile<MR, NV>::NR;
  const detail::PixelGrid g = detail::pixels_of(p);
  const int64_t cin = p.cin / p.group, cout = p.cout / p.group, panels = (cout + NR - 1) / NR, pixels = p.n * p.oh * p.ow;
  const detail::ProductShare own(share, pixels, p.cout, p.kh * p.kw * cin, MR, panels * p.group);
  const TileOrder order(share, pixels * p.y_pixel * int64_t{sizeof(Y)} / 4);
  const auto* const in = reinterpret_cast<const Quad*>(x);
  const auto* const weights = reinterpret_cast<const Quad*>(w);
  for (int64_t group = own.panels.begin / panels; group * panels < own.panels.end; ++group) {
    const Share::Range range{max_of(own.panels.begin - group * panels, int64_t{0}), min_of(own.panels.end - group * panels, panels)};
    detail::for_each_block(own.rows, detail::block_rows(cin * g.step_y * g.step_x, MR),
                           [&](int64_t first, int64_t count) ONNXC_INLINE_LAMBDA {
                             detail::conv_quads_block<MR, NV>(first, first + count, range, in + group * cin,
                                                              weights + group * panels * p.kh * p.kw * cin * NR, y, group * cout, cin, cout,
                                                              p.start != nullptr ? p.start + group * cout : nullptr, p, g, order, epi);
                           });
  }
}

}  // namespace onnxc::inline ONNXC_ISA
