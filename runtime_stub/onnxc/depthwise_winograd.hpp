// Depthwise 3x3 convolutions of stride 1 by Winograd's F(2,3) along columns: two output rows at a time, with 12
// multiplications for each pair of pixels instead of 18.
//
//   depthwise_winograd(share, x, w, y, {.h = 14, .w = 14, .cin = 384, .oh = 14, .ow = 14, .cout = 384, .pad_top = 1, .pad_left = 1,
//                                       .x_pixel = 384, .y_pixel = 384, .bias = w_bias}, Epilogue<Relu6>{});
//
//   d: four pixels of a column      t = d0 - d2, d1 + d2, d2 - d1, d1 - d3
//   m += t g, for the three columns of taps                                      y = m0 + m1 + m2, m1 - m2 - m3
//
// The sums m of three output columns, and the twelve vectors of g, stay in registers while the columns of the image
// pass by. A column takes eight additions. A core that adds on other ports than it multiplies on does them beside the
// multiplications; elsewhere nothing is gained. Where the number of rows is odd, the last pair computes one of its rows
// in vain, which counts in small images.
//
// Parameters are depthwise's. w packed: [kx][4][c] (pack::depthwise_winograd), with g made at compile time in double.
// Pairs of rows begin at even rows of an image, whatever the number of threads.
//
// An error is relative to the sum of magnitudes over three rows of taps: 1.2 to 1.4 times depthwise's (root mean
// square, positive values and any). None of these rows lies outside of the window (F(2, R) keeps windows apart,
// winograd_spoilt.hpp), so a NaN stays where it is. An infinity, however, would become NaN. So results that are not
// finite are made again by sums over their windows. Where the epilogue reads nothing that may lie in y, one test for a
// pair of rows sees this, at the cost of two additions a column. Reference: A. Lavin, S. Gray, Fast Algorithms for
// Convolutional Neural Networks, 2016.
#pragma once
#include "depthwise.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {

/// A vector of channels of output (oy, ox), as a sum over its window. The middle taps are g1 - g2, which is exactly
/// zero where they are zero.
template <bool Whole, class RowAt>
ONNXC_NOCLONE Vec depthwise_winograd_window(int64_t oy, int64_t ox, const RowAt& row_at, int64_t pitch, const float* w, int64_t channel,
                                            int64_t lanes, const ConvParams& p) {
  const auto load = [&](const float* from) { return Whole ? Vec::load(from) : Vec::load(from, lanes); };
  Vec sum = p.bias == nullptr ? Vec::all(0.0f) : load(p.bias + channel);
  for (int64_t kx = 0; kx < 3; ++kx) {
    const float* const g = w + kx * 4 * p.cout + channel;
    const Vec taps[3] = {load(g), load(g + p.cout) - load(g + 2 * p.cout), load(g + 3 * p.cout)};
    for (int64_t ky = 0; ky < 3; ++ky) {
      const int64_t iy = oy - p.pad_top + ky, ix = ox - p.pad_left + kx;
      if (iy >= 0 && iy < p.h && ix >= 0 && ix < p.w) sum = fma(load(row_at(iy) + ix * pitch), taps[ky], sum);
    }
  }
  return sum;
}

/// Whether a lane is infinite or NaN.
ONNXC_INLINE bool has_special(Vec x) { return any(~(abs(x) <= Vec::all(std::numeric_limits<float>::max()))); }

/// Computes a vector of channels of output rows [top, bottom) of an image, the first of which is row `line` of y.
/// row_at(iy): where a row of the image begins at these channels; its pixels are `pitch` floats apart.
template <bool kSums, bool Whole, class RowAt, class Epi>
ONNXC_INLINE void depthwise_winograd_rows(int64_t top, int64_t bottom, int64_t line, RowAt row_at, int64_t pitch, const float* w, float* y,
                                          int64_t channel, int64_t lanes, const ConvParams& p, const Epi& epi) {
  const auto load = [&](const float* from) ONNXC_INLINE_LAMBDA { return Whole ? Vec::load(from) : Vec::load(from, lanes); };
  const auto store = [&](Vec value, float* to) ONNXC_INLINE_LAMBDA { return Whole ? value.store(to) : value.store(to, lanes); };
  Vec g[3][4];
  ONNXC_UNROLL for (int kx = 0; kx < 3; ++kx) {
    ONNXC_UNROLL for (int j = 0; j < 4; ++j) g[kx][j] = load(w + (kx * 4 + j) * p.cout + channel);
  }
  const Vec zero = Vec::all(0.0f), bias = p.bias == nullptr ? zero : load(p.bias + channel);
  const int64_t first = p.pad_left, last = first + p.w, pixel = p.y_pixel, below = p.ow * pixel;
  for (int64_t oy = top; oy < bottom; oy += 2, line += 2) {
    const bool both = oy + 1 < bottom;
    // A row outside of the image is read with no lanes, from an address within another row.
    const float *at[4], *inside = nullptr;
    int64_t loaded[4];
    ONNXC_UNROLL for (int r = 0; r < 4; ++r) {
      const int64_t iy = oy - p.pad_top + r;
      const bool is_inside = iy >= 0 && iy < p.h && (r < 3 || both);
      at[r] = is_inside ? row_at(iy) : nullptr;
      loaded[r] = is_inside ? lanes : 0;
      if (is_inside) inside = at[r];
    }
    ONNXC_UNROLL for (const float*& row : at) row = row != nullptr ? row : inside != nullptr ? inside : kZeros;
    const int64_t step = inside != nullptr ? pitch : 0;
    int64_t row = line * p.ow;
    float* out = y + row * pixel + channel;
    [[maybe_unused]] Vec sums[2] = {zero, zero};
    const auto finish = [&](Vec value, int64_t down) ONNXC_INLINE_LAMBDA {
      float* const to = out + down * below;
      const Vec result = Whole ? finish_vector(epi, value, row + down * p.ow, channel, to)
                               : finish_vector(epi, value, row + down * p.ow, channel, to, lanes);
      if constexpr (kSums) sums[down] = sums[down] + result;
    };
    // Column u of the padded image ends the sums of output column u - 2 and begins those of u. Results are stored after
    // the loads of the next column: a core takes a load for one of the value that was just stored where the last 12
    // bits of their addresses agree, and would wait for the store.
    Vec upper = zero, lower = zero, seen = zero;
    const auto direct = [&](int64_t down, int64_t ox) {
      return depthwise_winograd_window<Whole>(oy + down, ox, row_at, pitch, w, channel, lanes, p);
    };
    const auto finish_both = [&]() ONNXC_INLINE_LAMBDA {
      if constexpr (Epi::kReads) {
        if (has_special(upper + lower)) [[unlikely]] {
          const int64_t ox = row - line * p.ow;
          upper = direct(0, ox);
          if (both) lower = direct(1, ox);
        }
      } else {
        seen = seen + (upper + lower);
      }
      finish(upper, 0);
      if (both) finish(lower, 1);
      ++row;
      out += pixel;
    };
    const auto column = [&](Vec(&ended)[4], Vec(&amid)[4], Vec(&begun)[4], int64_t u) ONNXC_INLINE_LAMBDA {
      if (u >= first && u < last) {
        const Vec d0 = Vec::load(at[0], loaded[0]), d1 = Vec::load(at[1], loaded[1]), d2 = Vec::load(at[2], loaded[2]),
                  d3 = Vec::load(at[3], loaded[3]);
        ONNXC_UNROLL for (int r = 0; r < 4; ++r) at[r] += step;
        if (u > 2) finish_both();
        const Vec t[4] = {d0 - d2, d1 + d2, d2 - d1, d1 - d3};
        ONNXC_UNROLL for (int j = 0; j < 4; ++j) {
          amid[j] = fma(t[j], g[1][j], amid[j]);
          begun[j] = j == 1 ? fma(t[j], g[0][j], bias) : t[j] * g[0][j];
        }
        if (u < 2) return;
        ONNXC_UNROLL for (int j = 0; j < 4; ++j) ended[j] = fma(t[j], g[2][j], ended[j]);
      } else {
        if (u > 2) finish_both();
        ONNXC_UNROLL for (int j = 0; j < 4; ++j) begun[j] = j == 1 ? bias : zero;
        if (u < 2) return;
      }
      upper = ended[0] + (ended[1] + ended[2]);
      lower = (ended[1] - ended[2]) - ended[3];
    };
    Vec a[4] = {zero, zero, zero, zero}, b[4] = {zero, zero, zero, zero}, c[4];
    for (int64_t u = 0, end = p.ow + 2; u < end;) {
      column(a, b, c, u);
      if (++u == end) break;
      column(b, c, a, u);
      if (++u == end) break;
      column(c, a, b, u);
      if (++u == end) break;
    }
    if (p.ow > 0) finish_both();
    if (!Epi::kReads && has_special(seen)) [[unlikely]] {
      row = line * p.ow;
      out = y + row * pixel + channel;
      sums[0] = sums[1] = zero;
      for (int64_t ox = 0; ox < p.ow; ++ox, ++row, out += pixel) {
        finish(direct(0, ox), 0);
        if (both) finish(direct(1, ox), 1);
      }
    }
    if constexpr (kSums) {
      store(sums[0], p.row_sums + line * p.cout + channel);
      if (both) store(sums[1], p.row_sums + (line + 1) * p.cout + channel);
    }
  }
}

/// A function of its own for the same reason as depthwise_line.
template <bool kSums, class RowAt, class Epi>
ONNXC_NOCLONE void depthwise_winograd_band(int64_t top, int64_t bottom, int64_t line, const RowAt& row_at, int64_t pitch, const float* w,
                                           float* y, int64_t channel, const ConvParams& p, const Epi& epi) {
  const int64_t lanes = p.cout - channel;
  if (lanes >= Vec::width) depthwise_winograd_rows<kSums, true>(top, bottom, line, row_at, pitch, w, y, channel, Vec::width, p, epi);
  else depthwise_winograd_rows<kSums, false>(top, bottom, line, row_at, pitch, w, y, channel, lanes, p, epi);
}

}  // namespace detail

/// See the head of the file. Dilations are 1. x must not overlap y.
template <bool kSums = false, class Epi = Epilogue<Keep>>
void depthwise_winograd(Share share, const float* x, const float* w, float* y, ConvParams p, Epi epi = {}) {
  constexpr int64_t kNear = 16 << 10;  // bytes of the rows of a block of channels
  const int64_t pairs = (p.oh + 1) / 2, image = p.h * p.w * p.x_pixel,
                block = image > int64_t{1} << 18 ? int64_t{p.cout} : 4 * Vec::width;                                       // as depthwise
  const int64_t bytes = 2 * p.ow * block * int64_t{sizeof(float)}, band = bytes > 0 && bytes < kNear ? kNear / bytes : 1;  // pairs of rows
  const auto [first, last] = share.slice(p.n * pairs);
  for (int64_t from = 0; from < p.cout; from += block) {
    const int64_t to = from + block < p.cout ? from + block : int64_t{p.cout};
    for (int64_t pair = first; pair < last;) {
      const int64_t begin = pair % pairs, rest = last - pair < pairs - begin ? last - pair : pairs - begin,
                    count = rest < band ? rest : band;
      const int64_t top = begin * 2, bottom = top + 2 * count < p.oh ? top + 2 * count : int64_t{p.oh}, line = pair / pairs * p.oh + top;
      const float* const source = x + pair / pairs * image;
      const auto rows = [&]<bool Whole>(int64_t channel, int64_t lanes) ONNXC_INLINE_LAMBDA {
        detail::depthwise_winograd_rows<kSums, Whole>(
            top, bottom, line, [&](int64_t iy) { return source + iy * p.w * p.x_pixel + channel; }, p.x_pixel, w, y, channel, lanes, p,
            epi);
      };
      int64_t channel = from;
      for (; channel + Vec::width <= to; channel += Vec::width) rows.template operator()<true>(channel, Vec::width);
      if (channel < to) rows.template operator()<false>(channel, to - channel);
      pair += count;
    }
  }
}

}  // namespace onnxc
