// The first convolution of a network: reads a planar image of few channels as the user gives it, writes channels-last.
//
//   conv_stem<14, 2, 2>(share, image, w, y, {.h = 224, .w = 224, .cin = 3, .oh = 112, .ow = 112, .cout = 64, .kh = 7, .kw = 7,
//                                            .stride_y = 2, .stride_x = 2, .pad_top = 3, .pad_left = 3, .y_pixel = 64,
//                                            .bias = w_bias}, Epilogue<Relu>{});
//
// x: [n, cin, h, w]. w packed: [ceil(cout / NR)][(ci * kh + ky) * kw + kx][NR] (pack::conv_stem); where panels hold
// pairs, each run of kw taps is packed as pairs. group 1; x_pixel is not used.
//
// A tile is MR neighbours of one output row. In the middle of the image it reads x in place: for a tap, pixel i lies
// i * stride_x further on. At the sides, the rows of x that the tile needs are first copied with their padding:
// contract::stem_floats floats, at most contract::kStemFloats.
//
// The stride along a row is a template argument, so that the pixels of a tile are displacements from one pointer:
// kernel rows are short, and setting up MR pointers for each would take as long as the products. SX = 0: any stride and
// dilation.
#pragma once
#include "contract/stem.hpp"
#include "conv.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {

/// acc[i] += line[i * SX + kx] * w[kx] for kx in [0, kw). Pairs go two steps at a time (tile.hpp), the last step of an
/// odd kw by itself.
template <int SX, int MR, int NV, bool kPairs>
ONNXC_INLINE void stem_row(Tile<MR, NV, kPairs>& tile, const float* line, int64_t kw, const float* w) {
  constexpr int NR = Tile<MR, NV, kPairs>::NR, kWhole = kPairs ? NV - 1 : NV;
  [[maybe_unused]] const auto step = [&](const float* pixel, const float* row) ONNXC_INLINE_LAMBDA {
    Vec b[NV];
    ONNXC_UNROLL for (int j = 0; j < kWhole; ++j) b[j] = Vec::load(row + j * Vec::width);
    ONNXC_UNROLL for (int i = 0; i < MR; ++i) {
      const Vec a = Vec::all(pixel[i * SX]);
      ONNXC_UNROLL for (int j = 0; j < kWhole; ++j) tile.acc[i][j] = fma(a, b[j], tile.acc[i][j]);
    }
  };
  if constexpr (kPairs) {
    for (; kw >= 2; kw -= 2, line += 2, w += 2 * NR) {
      const float* const pixel = opaque(line);
      if constexpr (kWhole > 0) {
        step(pixel, w);
        step(pixel + 1, w + kWhole * Vec::width);
      }
      const Vec both = Vec::load(w + 2 * kWhole * Vec::width);
      ONNXC_UNROLL for (int i = 0; i < MR; ++i) tile.acc[i][kWhole] = fma(pairs(pixel + i * SX), both, tile.acc[i][kWhole]);
    }
    if (kw > 0) {
      const float* const pixel = opaque(line);
      if constexpr (kWhole > 0) step(pixel, w);
      const Vec last = twice(Vec::load(w + kWhole * Vec::width, Vec::width / 2));
      const Mask even = spread(Vec::all(1.0f)) != Vec::all(0.0f);
      ONNXC_UNROLL for (int i = 0; i < MR; ++i) {
        Vec& sum = tile.acc[i][kWhole];
        sum = select(even, fma(Vec::all(pixel[i * SX]), last, sum), sum);
      }
    }
  } else {
    for (; kw > 0; --kw, ++line, w += NR) step(opaque(line), w);  // opaque: g++ 12 would keep values for the step after next, on the stack
  }
}

/// Where the rows of x under a tile begin: row (ci, ky) at base + (first + ci * channel + ky * row), in the image or in
/// copies of its rows.
struct StemRows {
  const float* base;
  int64_t first, channel, row;
};

/// Computes MR neighbours of output row oy, of which `count` are wanted. The first is pixel `row` of y.
template <int MR, int NV, int SX, bool kPairs, class Epi>
ONNXC_INLINE void stem_tile(StemRows x, const float* w, float* y, int64_t panel, int64_t row, int64_t oy, int64_t count,
                            const ConvParams& p, const Epi& epi) {
  constexpr int NR = Tile<MR, NV, kPairs>::NR;
  const float* wt = w + panel * p.cin * p.kh * p.kw * NR;
  Tile<MR, NV, kPairs> tile;
  tile.start(p.bias != nullptr ? p.bias + panel * NR : kZeros);
  for (int64_t ci = 0; ci < p.cin; ++ci) {
    for (int64_t ky = 0; ky < p.kh; ++ky, wt += p.kw * NR) {
      const int64_t iy = oy * p.stride_y - p.pad_top + ky * p.dilation_y;
      if (iy < 0 || iy >= p.h) continue;
      const float* const line = x.base + (x.first + ci * x.channel + ky * x.row);
      if constexpr (SX > 0) {
        stem_row<SX>(tile, line, p.kw, wt);
      } else {
        static_assert(!kPairs);
        const Prefetcher ahead(wt);
        const float* rows[MR];
        for (int64_t i = 0; i < MR; ++i) rows[i] = line + i * p.stride_x;
        for (int64_t kx = 0; kx < p.kw; ++kx) {
          tile.add(rows, 1, wt + kx * NR, ahead);
          for (const float*& r : rows) r += p.dilation_x;
        }
      }
    }
  }
  tile.finish(y, p.y_pixel, panel * NR, count, p.cout - panel * NR, Consecutive{row}, epi);
}

/// Copies the rows of an image under output row oy, `span` columns of them from `left` on: row (ci, ky) goes to
/// to + (ci * kh + ky) * pitch. Columns outside of the image become zeros, and so do less than a vector of floats
/// behind each row. Whole vectors are stored, because a load from what a masked store wrote in part waits until it is
/// in the cache.
ONNXC_INLINE void stem_copy(const float* image, int64_t oy, int64_t left, int64_t span, const ConvParams& p, float* to, int64_t pitch) {
  const int64_t first = left < 0 ? -left : 0, end = p.w - left < span ? p.w - left : span;
  for (int64_t ci = 0; ci < p.cin; ++ci) {
    for (int64_t ky = 0; ky < p.kh; ++ky, to += pitch) {
      const int64_t iy = oy * p.stride_y - p.pad_top + ky * p.dilation_y;
      if (iy < 0 || iy >= p.h) continue;
      const float* const line = image + (ci * p.h + iy) * p.w;
      for (int64_t i = 0; i < first && i < span; i += Vec::width) Vec::all(0.0f).store(to + i);
      int64_t i = first;
      for (; i < end; i += Vec::width) Vec::load(line + (left + i), end - i < Vec::width ? end - i : Vec::width).store(to + i);
      for (; i < span; i += Vec::width) Vec::all(0.0f).store(to + i);
    }
  }
}

/// Computes output row oy of `image` to pixels `row` and on of y. copies: `room` floats, at least those of a tile, and a vector.
template <int MR, int NV, int SX, bool kPairs = false, class Epi>
ONNXC_INLINE void stem_line(const float* image, const float* w, float* y, int64_t row, int64_t oy, float* copies, int64_t room,
                            const ConvParams& p, const Epi& epi) {
  constexpr int NR = Tile<MR, NV, kPairs>::NR, kHalf = (MR + 1) / 2;
  const int64_t panels = (p.cout + NR - 1) / NR;
  // The rows of x that the next output row adds come in pieces too short for the hardware prefetcher. Each tile
  // prefetches what will be under it, as all at once would hold up the loads that follow. The lambda is always inlined:
  // g++ 12 takes a function that only prefetches for one without effect, and drops its calls.
  const int64_t below = oy * p.stride_y - p.pad_top + (p.kh - 1) * p.dilation_y + 1,
                end = below + p.stride_y < p.h ? below + p.stride_y : int64_t{p.h};
  const auto fetch = [&](int64_t from, int64_t to) ONNXC_INLINE_LAMBDA {
    for (int64_t ci = 0; ci < p.cin; ++ci) {
      for (int64_t iy = below > 0 ? below : 0; iy < end; ++iy) {
        for (int64_t i = from > 0 ? from : 0; i < to && i < p.w; i += 16) __builtin_prefetch(image + (ci * p.h + iy) * p.w + i);
      }
    }
  };
  const auto left = [&](int64_t ox) { return ox * p.stride_x - p.pad_left; };
  const auto span = [&](int64_t ox) { return contract::inputs_under(p.ow - ox > kHalf ? MR : kHalf, p.stride_x, p.kw, p.dilation_x); };
  const auto inside = [&](int64_t ox) { return left(ox) >= 0 && left(ox) + span(ox) <= p.w; };
  // Tiles at the sides read copies, which are made once for all panels, for as many tiles at a time as there is room.
  const int64_t pitch = contract::stem_pitch(span(0)), floats = contract::stem_floats(p.cin, p.kh, span(0));
  for (int64_t from = 0, to = 0; from < p.ow; from = to) {
    int64_t sides = 0;
    for (; to < p.ow && (sides + 1) * floats <= room; to += MR) {
      if (!inside(to)) stem_copy(image, oy, left(to), span(to), p, copies + sides++ * floats, pitch);
    }
    for (int64_t panel = 0; panel < panels; ++panel) {
      int64_t side = 0;
      for (int64_t ox = from; ox < to; ox += MR) {
        if (panel == 0) fetch(left(ox), left(ox + MR));
        const StemRows x = inside(ox) ? StemRows{image, (oy * p.stride_y - p.pad_top) * p.w + left(ox), p.h * p.w, p.dilation_y * p.w}
                                      : StemRows{copies, side++ * floats, p.kh * pitch, pitch};
        if (p.ow - ox > kHalf) stem_tile<MR, NV, SX, kPairs>(x, w, y, panel, row + ox, oy, p.ow - ox, p, epi);
        else stem_tile<kHalf, NV, SX, kPairs>(x, w, y, panel, row + ox, oy, p.ow - ox, p, epi);
      }
    }
  }
}

}  // namespace detail

namespace detail {

/// The same with the copies on the stack.
template <int MR, int NV, int SX, bool kPairs = false, class Epi>
ONNXC_INLINE void stem_line(const float* image, const float* w, float* y, int64_t row, int64_t oy, const ConvParams& p, const Epi& epi) {
  alignas(64) float copies[contract::kStemFloats + 16];
  stem_line<MR, NV, SX, kPairs>(image, w, y, row, oy, copies, contract::kStemFloats, p, epi);
}

}  // namespace detail

/// See the head of the file. SX: stride_x where dilation_x is 1; or 0, which does not go with pairs.
template <int MR, int NV, int SX, bool kPairs = false, class Epi = Epilogue<Keep>>
void conv_stem(Share share, const float* x, const float* w, float* y, ConvParams p, Epi epi = {}) {
  const auto [first, last] = share.slice(p.n * p.oh);
  for (int64_t line = first; line < last; ++line)
    detail::stem_line<MR, NV, SX, kPairs>(x + line / p.oh * p.cin * p.h * p.w, w, y, line * p.ow, line % p.oh, p, epi);
}

/// The same with the copies in memory of the caller, for machines with small stacks. copies: contract::stem_scratch floats of this share.
template <int MR, int NV, int SX, bool kPairs = false, class Epi = Epilogue<Keep>>
void conv_stem(Share share, const float* x, const float* w, float* y, float* copies, ConvParams p, Epi epi = {}) {
  const auto [first, last] = share.slice(p.n * p.oh);
  const int64_t room =
      contract::stem_room(p.cin, p.kh, contract::inputs_under(p.ow > (MR + 1) / 2 ? MR : (MR + 1) / 2, p.stride_x, p.kw, p.dilation_x));
  for (int64_t line = first; line < last; ++line)
    detail::stem_line<MR, NV, SX, kPairs>(x + line / p.oh * p.cin * p.h * p.w, w, y, line * p.ow, line % p.oh, copies, room, p, epi);
}

}  // namespace onnxc
