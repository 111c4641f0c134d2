// Depthwise convolution of channels-last images: each channel with its own kernel, Vec::width channels at a time.
//
//   depthwise<3, 3, 1>(part, x, w, y, {.h = 56, .w = 56, .cin = 144, .oh = 56, .ow = 56, .cout = 144, .pad_top = 1, .pad_left = 1,
//                                      .x_pixel = 144, .y_pixel = 144, .bias = w_bias}, Epilogue<Relu6>{});
//
// w packed: [kh * kw][c] (pack::depthwise), bias: c values or null; both read by lanes at the tail. Parameters are conv's; cout = cin = c, group
// is not used. KH, KW and the stride along x are template arguments, so that a row of taps is unrolled: a step computes kPixels neighbours, and
// each input pixel is loaded once for all of the outputs that it reaches. The weights of a 3x3 kernel stay in registers along an output row.
//
// An image that fits L2 is taken by blocks of four vectors of channels, whose rows stay in L1 from one output row to the next. A larger one is
// taken row by row, while the input rows that the next output row adds are prefetched in order: memory likes lines in sequence.
// (96@112 stride 2: 281 us against 411 by blocks; 576@14: 23 us by blocks against 28 by rows. Sapphire Rapids, 2026-11.)
//
// kSums: p.row_sums gets the sum of each row of y for each channel, for a mean that comes next (squeeze-and-excite): the image need not be read again, and sums of whole
// rows do not depend on the number of parts.
//
// `depthwise_any` takes all sizes at run time, a pixel at a time.
#pragma once
#include "conv.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {

/// `count` neighbours from column ox on, `lanes` channels. lines: the image rows under the kernel, null outside of the image. Edge: some taps lie beside
/// the image or count < kPixels. What is stored is added to `sum` with kSums.
template <int KH, int KW, int SX, int kPixels, bool kSums, bool Edge, bool Whole, class Epi>
ONNXC_INLINE void depthwise_step(const float* const (&lines)[KH], const Vec (&w)[KH][KW], Vec bias, float* y, int64_t row, int64_t ox, int64_t channel,
                                 int64_t count, int64_t lanes, Vec& sum, const ConvParams& p, const Epi& epi) {
  Vec acc[kPixels];
  ONNXC_UNROLL for (int t = 0; t < kPixels; ++t) acc[t] = bias;
  const int64_t left = ox * SX - p.pad_left;
  ONNXC_UNROLL for (int ky = 0; ky < KH; ++ky) {
    if (lines[ky] != nullptr) {
      const float* const line = lines[ky] + left * p.x_pixel + channel;
      ONNXC_UNROLL for (int u = 0; u < (kPixels - 1) * SX + KW; ++u) {
        const float* pixel = line + u * p.x_pixel;
        if (Edge) pixel = left + u >= 0 && left + u < p.w ? pixel : kZeros;
        Vec d = Whole ? Vec::load(pixel) : Vec::load(pixel, lanes);
        pin(d);
        ONNXC_UNROLL for (int kx = 0; kx < KW; ++kx) {
          if ((u - kx) % SX == 0 && u >= kx && (u - kx) / SX < kPixels) acc[(u - kx) / SX] = fma(d, w[ky][kx], acc[(u - kx) / SX]);
        }
      }
    }
  }
  ONNXC_UNROLL for (int t = 0; t < kPixels; ++t) {
    if (!Edge || t < count) {
      float* const out = y + (row + t) * p.y_pixel + channel;
      const Vec result = Whole ? finish_vector(epi, acc[t], row + t, channel, out) : finish_vector(epi, acc[t], row + t, channel, out, lanes);
      if constexpr (kSums) sum = sum + result;
    }
  }
}

/// The image rows under the kernel for output row oy; row iy begins at address(iy).
template <int KH, class Address>
ONNXC_INLINE void depthwise_lines(const float* (&lines)[KH], int64_t oy, const ConvParams& p, Address address) {
  for (int ky = 0; ky < KH; ++ky) {
    const int64_t iy = oy * p.stride_y - p.pad_top + ky * p.dilation_y;
    lines[ky] = iy >= 0 && iy < p.h ? address(iy) : nullptr;
  }
}

/// Row `line` of the output. Where `ahead` is not null, what it points to is fetched on the way, `lines_ahead` lines a step.
template <int KH, int KW, int SX, int kPixels, bool kSums, bool Whole, class Epi>
ONNXC_INLINE void depthwise_row(const float* const (&lines)[KH], const float* w, float* y, int64_t line, int64_t channel, int64_t lanes, const float* ahead,
                                int64_t lines_ahead, const ConvParams& p, const Epi& epi) {
  Vec weights[KH][KW];
  ONNXC_UNROLL for (int ky = 0; ky < KH; ++ky) {
    ONNXC_UNROLL for (int kx = 0; kx < KW; ++kx) {
      const float* const tap = w + (ky * KW + kx) * p.cout + channel;
      weights[ky][kx] = Whole ? Vec::load(tap) : Vec::load(tap, lanes);
    }
  }
  const Vec bias = p.bias == nullptr ? Vec::all(0.0f) : Whole ? Vec::load(p.bias + channel) : Vec::load(p.bias + channel, lanes);
  constexpr int kSpan = (kPixels - 1) * SX + KW;
  const int64_t row = line * p.ow;
  Vec sum = Vec::all(0.0f);
  for (int64_t ox = 0; ox < p.ow; ox += kPixels) {
    const int64_t left = ox * SX - p.pad_left, count = p.ow - ox;
    for (int64_t i = 0; i < lines_ahead; ++i, ahead += 16) __builtin_prefetch(ahead, 0, 2);
    if (left >= 0 && left + kSpan <= p.w && count >= kPixels)
      depthwise_step<KH, KW, SX, kPixels, kSums, false, Whole>(lines, weights, bias, y, row + ox, ox, channel, count, lanes, sum, p, epi);
    else
      depthwise_step<KH, KW, SX, kPixels, kSums, true, Whole>(lines, weights, bias, y, row + ox, ox, channel, count, lanes, sum, p, epi);
  }
  if constexpr (kSums) {
    float* const to = p.row_sums + line * p.cout + channel;
    if (Whole) sum.store(to);
    else sum.store(to, lanes);
  }
}

}  // namespace detail

/// See the head of the file. dilation_x is 1. x must not overlap y.
template <int KH, int KW, int SX, int kPixels = 7, bool kSums = false, class Epi = Epilogue<Keep>>
void depthwise(Part part, const float* x, const float* w, float* y, ConvParams p, Epi epi = {}) {
  const auto [first, last] = part.slice(p.n * p.oh);
  const bool large = p.h * p.w * p.x_pixel > int64_t{1} << 18;
  const int64_t block = large ? p.cout : 4 * Vec::width, groups = (p.ow + kPixels - 1) / kPixels, steps = groups * vectors(p.cout);
  const int64_t lines_ahead = large ? (p.stride_y * p.w * p.x_pixel / 16 + steps - 1) / steps : 0;
  for (int64_t from = 0; from < p.cout; from += block) {
    const int64_t to = from + block < p.cout ? from + block : p.cout;
    for (int64_t line = first; line < last; ++line) {
      const float* const image = x + line / p.oh * p.h * p.w * p.x_pixel;
      const int64_t oy = line % p.oh;
      const float* lines[KH];
      detail::depthwise_lines<KH>(lines, oy, p, [&](int64_t iy) { return image + iy * p.w * p.x_pixel; });
      const float* ahead = image + (oy * p.stride_y - p.pad_top + KH) * p.w * p.x_pixel;
      int64_t channel = from;
      for (; channel + Vec::width <= to; channel += Vec::width, ahead += groups * lines_ahead * 16)
        detail::depthwise_row<KH, KW, SX, kPixels, kSums, true>(lines, w, y, line, channel, Vec::width, ahead, lines_ahead, p, epi);
      if (channel < to) detail::depthwise_row<KH, KW, SX, kPixels, kSums, false>(lines, w, y, line, channel, to - channel, ahead, lines_ahead, p, epi);
    }
  }
}

/// Any kernel, stride and dilation.
template <class Epi = Epilogue<Keep>>
void depthwise_any(Part part, const float* x, const float* w, float* y, ConvParams p, Epi epi = {}) {
  const auto [first, last] = part.slice(p.n * p.oh * p.ow);
  GridPlace place(first, p.oh, p.ow);
  for (int64_t row = first; row < last; ++row, place.advance()) {
    const int64_t top = place.y * p.stride_y - p.pad_top, left = place.x * p.stride_x - p.pad_left;
    const float* const image = x + place.n * p.h * p.w * p.x_pixel;
    for (int64_t channel = 0; channel < p.cout; channel += Vec::width) {
      const int64_t lanes = p.cout - channel < Vec::width ? p.cout - channel : Vec::width;
      Vec acc = p.bias != nullptr ? Vec::load(p.bias + channel, lanes) : Vec::all(0.0f);
      for (int64_t ky = 0; ky < p.kh; ++ky) {
        const int64_t iy = top + ky * p.dilation_y;
        if (iy < 0 || iy >= p.h) continue;
        for (int64_t kx = 0; kx < p.kw; ++kx) {
          const int64_t ix = left + kx * p.dilation_x;
          if (ix < 0 || ix >= p.w) continue;
          acc = fma(Vec::load(image + (iy * p.w + ix) * p.x_pixel + channel, lanes), Vec::load(w + (ky * p.kw + kx) * p.cout + channel, lanes), acc);
        }
      }
      finish_vector(epi, acc, row, channel, y + row * p.y_pixel + channel, lanes);
    }
  }
}

}  // namespace onnxc
