// Convolution of planar images of bytes, [n][cin][h][w] as ONNX has them, to channels-last ones: for images of few channels, which would fill quads
// badly, such as spectrograms and the pictures that networks begin with.
//
//   conv_quads_planar<14, 2>(share, x, w, y, scratch, {.h = 49, .w = 40, .cin = 1, .oh = 25, .ow = 20, .cout = 64, .kh = 10, .kw = 4, .stride_y = 2,
//                                                     .stride_x = 2, .pad_top = 4, .pad_left = 1, .y_pixel = 64, .outside = 128}, Epilogue<Requantise>{});
//
// A quad (quad_tile.hpp) is four neighbours in a row of the image, at any address. For each row of the output, the rows of the image under it are copied
// to `scratch` with what lies outside of the image, so that no step has borders:
//
//   image  . a b c d .     kw = 3     quads of pixels 0, 1, 2:   . a b c   a b c d   b c d .       the fourth byte of each meets a weight of zero
//
// w packed: [ceil(cout / NR)][(ci * kh + ky) * ceil(kw / 4) + quad][NR] quads (pack::planar_quads), zeros beyond kw.
#pragma once
#include "contract/quads.hpp"
#include "contract/window.hpp"
#include "padded_rows.hpp"
#include "quad_tile.hpp"

namespace onnxc::inline ONNXC_ISA {

struct PlanarQuadConvParams {
  int64_t n = 1, h = 1, w = 1, cin = 1;                                                                           // input
  int64_t oh = 1, ow = 1, cout = 1;                                                                               // output
  int64_t kh = 1, kw = 1, stride_y = 1, stride_x = 1, dilation_y = 1, dilation_x = 1, pad_top = 0, pad_left = 0;  // dilation_x is 1
  int64_t y_pixel = 0;             // elements from one pixel to the next
  const int32_t* start = nullptr;  // cout values, or null
  int64_t outside = 0;             // the value of pixels outside of the image
};

/// See the head of the file. x must not overlap y; operands of the epilogue may be y itself. scratch: cin * kh * contract::planar_quads_row bytes of this
/// share.
template <int MR, int NV, class Y, class Epi = Epilogue<Keep>>
void conv_quads_planar(Share share, const uint8_t* x, const int8_t* w, Y* y, uint8_t* scratch, PlanarQuadConvParams p, Epi epi = {}) {
  constexpr int NR = QuadTile<MR, NV>::NR;
  const int64_t quads = contract::quads(p.kw), width = contract::planar_quads_row(p.ow, p.stride_x, p.kw), rows = p.cin * p.kh;
  const int64_t panels = (p.cout + NR - 1) / NR, panel_quads = rows * quads * NR;
  const auto* const weights = reinterpret_cast<const Quad*>(w);
  const auto [begin, end] = share.slice(p.n * p.oh);
  for (int64_t line = begin; line < end; ++line) {
    const int64_t image = line / p.oh, top = line % p.oh * p.stride_y - p.pad_top;
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t iy = top + row % p.kh * p.dilation_y;
      const uint8_t* const from = iy >= 0 && iy < p.h ? x + ((image * p.cin + row / p.kh) * p.h + iy) * p.w : nullptr;
      padded_row(scratch + row * width, width, from, p.w, 1, 1, -p.pad_left, static_cast<uint8_t>(p.outside));
    }
    for (int64_t panel = 0; panel < panels; ++panel) {
      detail::for_each_tile<MR>(p.ow, TileOrder(share, 0), [&]<int R>(int64_t ox) ONNXC_INLINE_LAMBDA {
        QuadTile<R, NV> tile;
        tile.start(p.start != nullptr ? p.start + panel * NR : nullptr, p.cout - panel * NR);
        const Quad* b = weights + panel * panel_quads;
        const uint8_t* a = scratch + ox * p.stride_x;
        const int64_t left = p.ow - ox;
        for (int64_t row = 0; row < rows; ++row, a += width, b += quads * NR) {
          if (R <= left) {
            tile.add(EvenQuads{reinterpret_cast<const Quad*>(a), p.stride_x}, quads, b);
          } else {
            const Quad* at[R];
            for (int64_t r = 0; r < R; ++r) at[r] = reinterpret_cast<const Quad*>(a + (r < left ? r : left - 1) * p.stride_x);
            tile.add(static_cast<const Quad* const*>(at), quads, b);
          }
        }
        tile.finish(y, p.y_pixel, panel * NR, left, p.cout - panel * NR, [&](int64_t r) { return line * p.ow + ox + r; }, epi);
      });
    }
  }
}

}  // namespace onnxc::inline ONNXC_ISA
