// Depthwise convolution of channels-last images whose pixels fill only a part of a vector: C channels, C a divisor of
// Vec::width, stride 1, and no gaps between pixels. A vector holds Vec::width / C neighbours.
//
//   depthwise_narrow<3, 3, 8>(part, x, w, y, {.h = 48, .w = 48, .cin = 8, .oh = 48, .ow = 48, .cout = 8, .pad_top = 1, .pad_left = 1,
//                                             .x_pixel = 8, .y_pixel = 8, .bias = w_bias}, Epilogue<Relu>{});
//
// w packed: [kh * kw][C] (pack::depthwise), bias: C values or null. Parameters are conv's with
// cin = cout = x_pixel = y_pixel = C. The epilogue has no operands.
//
// A tap is a vector of the row of x, C floats behind that of the tap before. Only at the ends of a row must lanes
// outside of the image be told apart.
#pragma once
#include "depthwise.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {

/// C values, repeated for each pixel of a vector.
template <int C>
ONNXC_INLINE Vec repeat(const float* values) {
  alignas(64) float lanes[Vec::width];
  for (int i = 0; i < Vec::width; ++i) lanes[i] = values[i % C];
  return Vec::load(lanes);
}

/// The vector that begins with float `at` of a row of `end` floats, with zeros outside of the row.
ONNXC_INLINE Vec load_beside(const float* row, int64_t at, int64_t end) {
  if (at >= 0 || at <= -Vec::width)
    return at < 0 || at >= end ? Vec::all(0.0f) : Vec::load(row + at, end - at < Vec::width ? end - at : Vec::width);
  const int64_t inside = Vec::width + at;
  alignas(64) float lanes[2 * Vec::width];
  Vec::all(0.0f).store(lanes);
  Vec::load(row, inside < end ? inside : end).store(lanes - at);
  return Vec::load(lanes);
}

/// Computes `kVectors` vectors of neighbours from pixel ox on of the output row whose first pixel is `row` of y. lines:
/// the image rows under the kernel, null outside of the image. Edge: some of what is read or written lies outside of a
/// row.
template <int KH, int KW, int C, int kVectors, bool Edge, class Epi>
ONNXC_INLINE void depthwise_narrow_step(const float* const (&lines)[KH], const Vec (&w)[KH][KW], Vec bias, float* y, int64_t row,
                                        int64_t ox, const ConvParams& p, const Epi& epi) {
  constexpr int kPixels = Vec::width / C;
  Vec acc[kVectors];
  ONNXC_UNROLL for (int t = 0; t < kVectors; ++t) acc[t] = bias;
  const int64_t left = (ox - p.pad_left) * C;
  ONNXC_UNROLL for (int ky = 0; ky < KH; ++ky) {
    if (lines[ky] != nullptr) {
      ONNXC_UNROLL for (int u = 0; u < (kVectors - 1) * kPixels + KW; ++u) {
        if (u % kPixels >= KW) continue;
        Vec d = Edge ? load_beside(lines[ky], left + u * C, p.w * C) : Vec::load(lines[ky] + left + u * C);
        pin(d);
        ONNXC_UNROLL for (int kx = 0; kx < KW; ++kx) {
          if ((u - kx) % kPixels == 0 && u >= kx && (u - kx) / kPixels < kVectors)
            acc[(u - kx) / kPixels] = fma(d, w[ky][kx], acc[(u - kx) / kPixels]);
        }
      }
    }
  }
  ONNXC_UNROLL for (int t = 0; t < kVectors; ++t) {
    const int64_t pixel = row + ox + t * kPixels;
    if (Edge) finish_lanes(epi, acc[t], pixel, 0, y + pixel * C, (p.ow - ox - t * kPixels) * C);
    else finish_vector(epi, acc[t], pixel, 0, y + pixel * C);
  }
}

}  // namespace detail

/// See the head of the file. x must not overlap y.
template <int KH, int KW, int C, int kVectors = contract::kDepthwiseNarrowVectors, class Epi = Epilogue<Keep>>
void depthwise_narrow(Part part, const float* x, const float* w, float* y, ConvParams p, Epi epi = {}) {
  static_assert(std::is_empty_v<Epi>);
  if constexpr (Vec::width % C != 0) {  // compiled for other vectors than those that it was chosen for
    depthwise<KH, KW, 1>(part, x, w, y, p, epi);
  } else {
    constexpr int kPixels = Vec::width / C, kSpan = (kVectors - 1) * kPixels + KW - 1 + kPixels;
    Vec weights[KH][KW];
    ONNXC_UNROLL for (int ky = 0; ky < KH; ++ky) {
      ONNXC_UNROLL for (int kx = 0; kx < KW; ++kx) weights[ky][kx] = detail::repeat<C>(w + (ky * KW + kx) * C);
    }
    const Vec bias = p.bias == nullptr ? Vec::all(0.0f) : detail::repeat<C>(p.bias);
    const auto [first, last] = part.slice(p.n * p.oh);
    for (int64_t line = first; line < last; ++line) {
      const float* const image = x + line / p.oh * p.h * p.w * C;
      const float* lines[KH];
      detail::depthwise_lines<KH>(lines, line % p.oh, p, [&](int64_t iy) { return image + iy * p.w * C; });
      for (int64_t ox = 0; ox < p.ow; ox += kVectors * kPixels) {
        const int64_t left = ox - p.pad_left;
        if (left >= 0 && left + kSpan <= p.w && ox + kVectors * kPixels <= p.ow)
          detail::depthwise_narrow_step<KH, KW, C, kVectors, false>(lines, weights, bias, y, line * p.ow, ox, p, epi);
        else detail::depthwise_narrow_step<KH, KW, C, kVectors, true>(lines, weights, bias, y, line * p.ow, ox, p, epi);
      }
    }
  }
}

}  // namespace onnxc
