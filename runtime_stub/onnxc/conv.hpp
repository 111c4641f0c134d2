// Convolution of channels-last images as an implicit GEMM: rows are output pixels, and k runs over taps and channels.
// There is no im2col copy.
//
//   y[n, oy, ox, co] = epilogue(bias[co] + sum over ky, kx, ci of x[n, oy * stride_y - pad_top + ky * dilation_y, ...,
//   ci] * w[co, ci, ky, kx])
//
//   conv<14, 2>(share, x, w, y, {.h = 56, .w = 56, .cin = 64, .oh = 56, .ow = 56, .cout = 64, .kh = 3, .kw = 3, .pad_top = 1,
//                                .pad_left = 1, .x_pixel = 64, .y_pixel = 64, .bias = w_bias}, Epilogue<Relu>{});
//
// w packed: [group][ceil(cout_g / NR)][(ky * kw + kx) * cin_g + ci][NR] (compiler/select/weights/pack.h); of floats, or
// of a narrower type that is read as the same floats (stored.hpp). conv<8, 2, true>: the last vector of a panel holds
// pairs (tile.hpp), and a group has an even number of channels. A pixel of x is cin floats, and the next one begins
// x_pixel elements later. Rows of pixels follow each other without gaps. Only the cin floats of a pixel of x, and the
// cout floats of a pixel of y, are touched.
//
// A tile of MR pixels may span image rows and images. Where its pixels are neighbours in a row, and a tap lies inside
// of the image for all of them, the tile reads evenly spaced rows. Otherwise each tap makes MR pointers: to the pixel,
// or to zeros outside of the image. Taps that lie outside for all pixels are skipped. Kernels of one tap, stride 1 and
// no padding are computed by `gemm` with a pixel a row. A one-dimensional convolution has h = kh = 1. The epilogue sees
// the output as a matrix [n * oh * ow, cout].
#pragma once
#include "contract/window.hpp"
#include "gemm.hpp"
#include "passed.hpp"
#include "strided.hpp"

namespace onnxc::inline ONNXC_ISA {

struct ConvParams {
  Extent n = 1, h = 1, w = 1, cin = 1;  // input
  Extent oh = 1, ow = 1, cout = 1;      // output
  Extent kh = 1, kw = 1, stride_y = 1, stride_x = 1, dilation_y = 1, dilation_x = 1, pad_top = 0, pad_left = 0, group = 1;
  Extent x_pixel = 0, y_pixel = 0;                                            // elements between pixels
  Extent d = 1, od = 1, kd = 1, stride_z = 1, dilation_z = 1, pad_front = 0;  // of volumes (conv_3d.hpp)
  const float* bias = nullptr;         // for each group cout_g values, padded to whole panels; or null
  const float* scales = nullptr;       // where w is of int8_t: a factor for each output channel, laid out as bias
  const float* weights_end = nullptr;  // where the constants of the steps after this one end; null: w's are the last
  Slices slices{};
  float* row_sums = nullptr;  // for depthwise convolutions with kSums: [n * oh][cout], the sum of the pixels of each row of y
};
static_assert(contract::has_usual_window(ConvParams{}) && ConvParams{}.group == contract::kUsualGroup);

namespace detail {

/// The taps of a kernel along one axis. Tap t is row `first + t * step` of the weights and reads input coordinate
/// `offset + t * stride` relative to the pixel's origin.
struct Taps {
  int64_t count, first, step, offset, stride;
  int64_t low() const { return stride < 0 ? offset + (count - 1) * stride : offset; }
  int64_t high() const { return stride < 0 ? offset : offset + (count - 1) * stride; }
};

/// A grid of output pixels. Grid pixel (n, gy, gx) has its origin at (gy * step_y, gx * step_x) of the input and is
/// output pixel (gy * out_step_y + out_y, gx * out_step_x + out_x). A convolution is one grid, a transposed convolution
/// has a grid for each phase of its stride. For volumes, an image is a slice of one depth, and all taps kz lie inside
/// of the volume.
struct PixelGrid {
  int64_t n, gh, gw;
  int64_t image, out_image;  // from one image to the next: in floats of x, in pixels of y
  int64_t step_y, step_x;
  int64_t out_step_y = 1, out_step_x = 1, out_y = 0, out_x = 0, out_first = 0;  // out_first: the pixel of y where the first image begins
  Taps ky, kx, kz{1, 0, 1, 0, 0};
  int64_t slice = 0;  // floats from one depth to the next
};

/// The grid of a convolution of images.
ONNXC_INLINE PixelGrid pixels_of(const ConvParams& p) {
  return {.n = p.n,
          .gh = p.oh,
          .gw = p.ow,
          .image = p.h * p.w * p.x_pixel,
          .out_image = p.oh * p.ow,
          .step_y = p.stride_y,
          .step_x = p.stride_x,
          .ky = {p.kh, 0, 1, -p.pad_top, p.dilation_y},
          .kx = {p.kw, 0, 1, -p.pad_left, p.dilation_x}};
}

/// Input origins and output rows of the pixels of a tile. Surplus pixels repeat the last one.
template <int MR>
struct PixelTile {
  const float* image[MR];
  int64_t y[MR], x[MR], out[MR];
  bool inside;  // all taps of all pixels lie inside of the image
  bool even;    // the pixels are neighbours in one row

  /// The tile that begins at `point`, from which on `left` pixels are left.
  ONNXC_INLINE PixelTile(const ConvParams& p, const PixelGrid& g, const float* in, GridPoint point, int64_t left) {
    even = point.x + MR <= g.gw && MR <= left;
    const auto row_of = [&](const GridPoint& at) ONNXC_INLINE_LAMBDA {
      return g.out_first + at.n * g.out_image + (at.y * g.out_step_y + g.out_y) * p.ow + at.x * g.out_step_x + g.out_x;
    };
    y[0] = point.y * g.step_y;
    x[0] = point.x * g.step_x;
    image[0] = in + point.n * g.image;
    inside = even && y[0] + g.ky.low() >= 0 && y[0] + g.ky.high() < p.h && x[0] + g.kx.low() >= 0 &&
             x[0] + (MR - 1) * g.step_x + g.kx.high() < p.w;
    if (inside) {  // the first pixel tells where the others are
      out[0] = row_of(point);
      for (int64_t i = 1; i < MR; ++i) out[i] = out[0] + i * g.out_step_x;
      return;
    }
    inside = true;
    for (int64_t i = 0; i < MR; ++i) {
      y[i] = point.y * g.step_y;
      x[i] = point.x * g.step_x;
      image[i] = in + point.n * g.image;
      out[i] = row_of(point);
      inside &= y[i] + g.ky.low() >= 0 && y[i] + g.ky.high() < p.h && x[i] + g.kx.low() >= 0 && x[i] + g.kx.high() < p.w;
      if (i + 1 < left) point.advance();
    }
  }

  /// Whether a tap lies inside of the image for all pixels of an even tile.
  ONNXC_INLINE bool inside_row(const ConvParams& p, int64_t dy, int64_t dx) const {
    return inside || (y[0] + dy >= 0 && y[0] + dy < p.h && x[0] + dx >= 0 && x[MR - 1] + dx < p.w);
  }

  /// The pixels that one tap reads, each `at` elements further on, or `outside` for those outside of the image. False when all are.
  ONNXC_INLINE bool tap(const ConvParams& p, int64_t dy, int64_t dx, int64_t at, const float** rows, const float* outside) const {
    bool any = false;
    for (int i = 0; i < MR; ++i) {
      const int64_t iy = y[i] + dy, ix = x[i] + dx;
      const bool ok = inside || (iy >= 0 && iy < p.h && ix >= 0 && ix < p.w);
      rows[i] = ok ? image[i] + (iy * p.w + ix) * p.x_pixel + at : outside;
      any |= ok;
    }
    return any;
  }
};

/// Adds steps [from, to) of k, in the order of taps and channels. w: the panel, as panel_of returns it.
template <int MR, int NV, bool kPairs, class Panel>
ONNXC_INLINE void add_taps(Tile<MR, NV, kPairs>& tile, const PixelTile<MR>& pixels, int64_t from, int64_t to, Panel w, int64_t cin,
                           const ConvParams& p, const PixelGrid& g, Prefetcher& ahead) {
  constexpr int NR = Tile<MR, NV, kPairs>::NR;
  const bool joined = p.x_pixel == cin && g.kx.step == 1 && g.kx.stride == 1 && pixels.inside;  // taps of a row are one run of floats
  const int64_t across = joined ? 1 : g.kx.count, channels = joined ? cin * g.kx.count : cin;
  int64_t tz = 0, ty = 0, tx = 0, channel = 0;
  if (from > 0) {
    const int64_t tap = from / channels, row = tap / across;
    channel = from - tap * channels;
    tx = tap - row * across;
    tz = row / g.ky.count;
    ty = row - tz * g.ky.count;
  }
  for (int64_t left = to - from; left > 0;) {
    const int64_t run = channels - channel < left ? channels - channel : left;
    const int64_t dy = g.ky.offset + ty * g.ky.stride, dx = g.kx.offset + tx * g.kx.stride;
    const int64_t line = (g.kz.first + tz * g.kz.step) * p.kh + g.ky.first + ty * g.ky.step,
                  at = (g.kz.offset + tz * g.kz.stride) * g.slice + channel;
    const Panel wt = w + ((line * p.kw + g.kx.first + tx * g.kx.step) * cin + channel) * NR;
    if (pixels.even && pixels.inside_row(p, dy, dx)) {
      tile.add(EvenRows{pixels.image[0] + ((pixels.y[0] + dy) * p.w + pixels.x[0] + dx) * p.x_pixel + at, g.step_x * p.x_pixel}, run, wt,
               ahead);
      ahead.advance(run);
    } else if (const float* rows[MR]; pixels.tap(p, dy, dx, at, rows, kZeros)) {
      for (int64_t c = 0; c < run; c += kZeroFloats) {  // kZeros has zeros for so many channels
        const int64_t some = run - c < kZeroFloats ? run - c : kZeroFloats;
        tile.add(rows, some, wt + c * NR, ahead);
        ahead.advance(some);
        if (c + some < run) {
          for (const float*& row : rows) row = row == kZeros ? row : row + some;
        }
      }
    }
    left -= run;
    channel = 0;
    if (++tx == across) {
      tx = 0;
      if (++ty == g.ky.count) {
        ty = 0;
        ++tz;
      }
    }
  }
}

/// Multiplies pixels [first, last) by panels [first_panel, last_panel).
template <int MR, int NV, bool kPairs, class T, class Epi>
ONNXC_INLINE void conv_block(int64_t first, int64_t last, int64_t first_panel, int64_t last_panel, const float* in, const T* w, float* out,
                             float* sums, int64_t first_channel, int64_t cin, int64_t cout, const float* bias, const float* scales,
                             const ConvParams& p, const PixelGrid& g, TileOrder order, const Epi& epi) {
  constexpr int NR = Tile<MR, NV, kPairs>::NR, kHalf = (MR + 1) / 2,
                kMostRest = MR > 3 && !ONNXC_MICRO ? kHalf : 0;  // pixels that are left for a half tile
  const int64_t k = p.kd * p.kh * p.kw * cin, steps = g.kz.count * g.ky.count * g.kx.count * cin,
                depth = kPairs ? steps : p.slices.depth(steps);
  Prefetcher ahead(w + (cout + NR - 1) / NR * k * NR, p.weights_end);
  for (int64_t panel = first_panel; panel < last_panel; ++panel) {
    const auto wp = panel_of(w, scales, panel, k, NR);
    for_each_slice(steps, depth, [&](int64_t from, int64_t to) ONNXC_INLINE_LAMBDA {
      GridPoint point(first, g.gh, g.gw);
      ahead.move(address_of(wp + (to < steps ? to : k) * NR), to - from < cin ? to - from : cin,
                 NR * int64_t{sizeof(T)} * MR / (last - first));
      const auto product = [&]<int R>(int64_t pixel) ONNXC_INLINE_LAMBDA {
        Tile<R, NV, kPairs> tile;
        const PixelTile<R> pixels(p, g, in, point, last - pixel);
        point.advance(R);
        const auto at = [&](int64_t i) ONNXC_INLINE_LAMBDA { return sums + ((pixel + i < last ? pixel + i : last - 1) - first) * NR; };
        if (kPairs || from == 0) tile.start(bias != nullptr ? bias + panel * NR : kZeros);
        else if constexpr (!kPairs) tile.load(at);
        add_taps(tile, pixels, from, to, wp, cin, p, g, ahead);
        if (!kPairs && to < steps) tile.store(at, last - pixel);
        else
          tile.finish(
              out, p.y_pixel, first_channel + panel * NR, last - pixel, cout - panel * NR,
              [&](int64_t i) ONNXC_INLINE_LAMBDA { return pixels.out[i]; }, epi);
      };
      const int64_t tiles = (last - first - kMostRest + MR - 1) / MR, rest = first + tiles * MR;
      for (int64_t t = 0; t < tiles; ++t) {
        const int64_t pixel = first + order(t, tiles) * MR;
        if (order.swaps_pairs) point = GridPoint(pixel, g.gh, g.gw);
        product.template operator()<MR>(pixel);
      }
      if (order.swaps_pairs) point = GridPoint(rest, g.gh, g.gw);
      if (kMostRest > 0 && rest < last) product.template operator()<kHalf>(rest);
    });
  }
}

/// Multiplies pixels [first, last) of the grid by panels [first_panel, last_panel), counted through all groups.
template <int MR, int NV, bool kPairs = false, class T, class Epi>
ONNXC_INLINE void conv_pixels(int64_t first, int64_t last, int64_t first_panel, int64_t last_panel, const float* in, const T* w, float* out,
                              const ConvParams& p, const PixelGrid& g, TileOrder order, const Epi& epi) {
  constexpr int NR = Tile<MR, NV, kPairs>::NR;
  const int64_t cin = p.cin / p.group, cout = p.cout / p.group, panels = (cout + NR - 1) / NR;
  const int64_t block = p.slices.block(block_rows(cin * g.step_y * g.step_x, MR));
  for (int64_t group = first_panel / panels; group * panels < last_panel; ++group) {
    const int64_t from = first_panel > group * panels ? first_panel - group * panels : 0;
    const int64_t to = last_panel < (group + 1) * panels ? last_panel - group * panels : panels;
    const T* const wg = w + group * panels * p.kd * p.kh * p.kw * cin * NR;
    const float* const bias = p.bias != nullptr ? p.bias + group * panels * NR : nullptr;
    const float* const scales = p.scales != nullptr ? p.scales + group * panels * NR : nullptr;
    for_each_block({first, last}, block, [&](int64_t pixel, int64_t pixels) ONNXC_INLINE_LAMBDA {
      conv_block<MR, NV, kPairs>(pixel, pixel + pixels, from, to, in + group * cin, wg, out, p.slices.sums, group * cout, cin, cout, bias,
                                 scales, p, g, order, epi);
    });
  }
}

/// The work of this share: some of the pixels of the grid, or some of the panels of all groups.
template <int MR, int NV, bool kPairs = false, class T, class Epi>
ONNXC_INLINE void conv_grid(Share share, const float* in, const T* w, float* out, const ConvParams& p, const PixelGrid& g, const Epi& epi) {
  constexpr int NR = Tile<MR, NV, kPairs>::NR;
  const int64_t cin = p.cin / p.group, panels = (p.cout / p.group + NR - 1) / NR * p.group, pixels = g.n * g.gh * g.gw;
  const ProductShare own(share, pixels, p.cout, p.kd * p.kh * p.kw * cin, MR, panels);
  conv_pixels<MR, NV, kPairs>(own.rows.begin, own.rows.end, own.panels.begin, own.panels.end, in, w, out, p, g,
                              TileOrder(share, pixels * p.y_pixel), epi);
}

}  // namespace detail

/// See the head of the file. x must not overlap y; operands of the epilogue may be y itself.
template <int MR, int NV, bool kPairs = false, class T, class Epi = Epilogue<Keep>>
void conv(Share share, const float* x, const T* w, float* y, Passed<ConvParams> p, Epi epi = {}) {
  detail::conv_grid<MR, NV, kPairs>(share, x, w, y, p, detail::pixels_of(p), epi);
}

}  // namespace onnxc
