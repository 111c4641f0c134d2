// Pooling of channels-last images: the largest value, or the mean, of each window; Vec::width channels at a time.
//
//   max_pool(share, x, y, {.h = 112, .w = 112, .c = 64, .oh = 56, .ow = 56, .kh = 3, .kw = 3, .stride_y = 2, .stride_x = 2, .pad_top = 1,
//                          .pad_left = 1, .x_pixel = 64, .y_pixel = 64});
//
// Output sizes are given, so ceil_mode is the caller's. Pads never count as values. max propagates NaN, and is -infinity where a window has
// no pixel. The mean is over the pixels of the window; with count_include_pad also over pads, up to pad_bottom and pad_right.
// The epilogue sees pixels by channels. Only c floats of a pixel are touched. Global pooling is reduce_middle (reduce.hpp).
#pragma once
#include "contract/pool.hpp"
#include "contract/window.hpp"
#include "passed.hpp"
#include "strided.hpp"
#include "tile.hpp"

namespace onnxc::inline ONNXC_ISA {

struct PoolParams {
  Extent n = 1, h = 1, w = 1, c, oh = 1, ow = 1;
  Extent kh = 1, kw = 1, stride_y = 1, stride_x = 1, dilation_y = 1, dilation_x = 1;
  Extent pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  Extent x_pixel = 0, y_pixel = 0;
  Extent d = 1, od = 1, kd = 1, stride_z = 1, dilation_z = 1, pad_front = 0, pad_back = 0;  // of volumes (pool_3d.hpp)
  bool count_include_pad = false;
};
static_assert(contract::has_usual_window(PoolParams{.c = 1}) && PoolParams{.c = 1}.pad_bottom == contract::kUsualPad &&
              PoolParams{.c = 1}.pad_right == contract::kUsualPad);

namespace detail {

struct Larger {
  ONNXC_INLINE Vec operator()(Vec a, Vec b) const { return fn::max(a, b); }
};
inline constexpr float kMaxStart = -std::numeric_limits<float>::infinity();
constexpr float unscaled(Index, Index, Index) { return 1.0f; }

/// combine() of kh rows from tap `first` on, with kw neighbours each, `step` floats apart; the row of a tap is read
/// from line(tap) + at on.
template <int kh, int kw, class Line, class Combine>
ONNXC_INLINE Vec combine_all(Line line, Index first, Index at, Index step, Combine combine) {
  Vec acc;
  ONNXC_UNROLL for (int ky = 0; ky < kh; ++ky) {
    const float* const row = line(first + ky) + at;
    ONNXC_UNROLL for (int kx = 0; kx < kw; ++kx) acc = ky + kx == 0 ? Vec::load(row) : combine(acc, Vec::load(row + kx * step));
  }
  return acc;
}

/// combine() of the pixel vectors of a window, for one pixel of the output, which is `row` of y. line(ky): where the
/// row under that tap begins, whose pixels lie x_pixel apart. It is called for rows of the image only.
template <class Line, class Combine, class Scale, class Epi>
ONNXC_INLINE void pool_pixel(Index top, Index left, Index row, Line line, Index x_pixel, float* y, const PoolParams& p, float start,
                             Combine combine, Scale scale, const Epi& epi) {
  const Window wy(top, p.kh, p.dilation_y, 0, p.h), wx(left, p.kw, p.dilation_x, 0, p.w);
  const float factor = scale(top, left, wy.count() * wx.count());
  const bool near = !ONNXC_LEAST_CODE && p.dilation_y == 1 && p.dilation_x == 1, is_three = near && wy.count() == 3 && wx.count() == 3,
             is_two = near && wy.count() == 2 && wx.count() == 2;
  for (Index channel = 0; channel < p.c; channel += Vec::width) {
    const Index lanes = p.c - channel < Vec::width ? p.c - channel : Vec::width;
    const Index at = (left + wx.first * p.dilation_x) * x_pixel + channel;
    Vec acc = Vec::all(start);
    if (is_three && lanes == Vec::width) acc = combine_all<3, 3>(line, wy.first, at, x_pixel, combine);
    else if (is_two && lanes == Vec::width) acc = combine_all<2, 2>(line, wy.first, at, x_pixel, combine);
    else
      for (Index ky = wy.first; ky < wy.last; ++ky) {
        const float* pixel = line(ky) + at;
        const auto step = static_cast<std::ptrdiff_t>(p.dilation_x * x_pixel);
        for (auto taps = static_cast<std::ptrdiff_t>(wx.count()); taps > 0; --taps, pixel += step)
          acc = combine(acc, lanes == Vec::width ? Vec::load(pixel) : Vec::load(pixel, lanes));
      }
    if (factor != 1.0f) acc = acc * Vec::all(factor);
    float* const out = y + row * p.y_pixel + channel;
    finish_lanes(epi, acc, row, channel, out, lanes);
  }
}

/// Computes one row of the output, whose first pixel is `row` of y, with windows of at most contract::kMostPoolRows
/// rows. address(iy): where a row of the image begins.
template <class Address, class Combine, class Scale, class Epi>
ONNXC_INLINE void pool_row(Index oy, Index row, Address address, Index x_pixel, float* y, const PoolParams& p, float start, Combine combine,
                           Scale scale, const Epi& epi) {
  const Index top = oy * p.stride_y - p.pad_top;
  const float* lines[contract::kMostPoolRows];
  const Window inside(top, p.kh, p.dilation_y, 0, p.h);
  for (Index ky = inside.first; ky < inside.last; ++ky) lines[ky] = address(top + ky * p.dilation_y);
  const auto line = [&](Index ky) ONNXC_SMALL_LAMBDA { return lines[ky]; };
  for (Index ox = 0; ox < p.ow; ++ox)
    pool_pixel(top, ox * p.stride_x - p.pad_left, row + ox, line, x_pixel, y, p, start, combine, scale, epi);
}

template <class Combine, class Scale, class Epi>
ONNXC_INLINE void pool(Share share, const float* x, float* y, const PoolParams& p, float start, Combine combine, Scale scale,
                       const Epi& epi) {
  const auto [begin, end] = share.slice(p.n * p.oh * p.ow);
  GridPoint point(begin, p.oh, p.ow);
  for (Index row = begin; row < end; ++row, point.advance()) {
    const float* const image = x + point.n * p.h * p.w * p.x_pixel;
    const Index top = point.y * p.stride_y - p.pad_top;
    const auto line = [&](Index ky) ONNXC_SMALL_LAMBDA { return image + (top + ky * p.dilation_y) * p.w * p.x_pixel; };
    pool_pixel(top, point.x * p.stride_x - p.pad_left, row, line, p.x_pixel, y, p, start, combine, scale, epi);
  }
}

}  // namespace detail

template <class Epi = Epilogue<Keep>>
void max_pool(Share share, const float* x, float* y, Passed<PoolParams> p, Epi epi = {}) {
  detail::pool(share, x, y, p, detail::kMaxStart, detail::Larger{}, detail::unscaled, epi);
}

template <class Epi = Epilogue<Keep>>
void average_pool(Share share, const float* x, float* y, Passed<PoolParams> p, Epi epi = {}) {
  detail::pool(
      share, x, y, p, 0.0f, [](Vec a, Vec b) ONNXC_SMALL_LAMBDA { return a + b; },
      [&p](Index top, Index left, Index pixels) ONNXC_SMALL_LAMBDA {
        if (p.count_include_pad)
          pixels = Window(top, p.kh, p.dilation_y, -p.pad_top, p.h + p.pad_bottom).count() *
                   Window(left, p.kw, p.dilation_x, -p.pad_left, p.w + p.pad_right).count();
        return 1.0f / static_cast<float>(pixels > 0 ? pixels : 1);
      },
      epi);
}

}  // namespace onnxc
