// max_pool of planar images, with vectors along the rows, for what follows conv_planar.
//
//   max_pool_planar<2>(share, x, y, {.h = 28, .w = 28, .c = 6, .oh = 14, .ow = 14, .kh = 2, .kw = 2, .stride_y = 2, .stride_x = 2});
//
// x: [n, c, h, w], y: [n, c, oh, ow]. SX is stride_x, 1 or 2. There are no pads, dilations are 1, and every window lies
// inside of the image. x_pixel and y_pixel are not used. NaN propagates. The epilogue sees the output as a matrix
// [n * c, oh * ow].
#pragma once
#include "passed.hpp"
#include "pool.hpp"

namespace onnxc::inline ONNXC_ISA {

/// See the head of the file.
template <int SX, class Epi = Epilogue<Keep>>
void max_pool_planar(Share share, const float* x, float* y, Passed<PoolParams> p, Epi epi = {}) {
  static_assert(SX == 1 || SX == 2);
  const auto [first, last] = share.slice(p.n * p.c * p.oh);
  for (int64_t unit = first; unit < last; ++unit) {
    const int64_t plane = unit / p.oh, oy = unit % p.oh;
    for (int64_t ox = 0; ox < p.ow; ox += Vec::width) {
      Vec acc = Vec::all(-std::numeric_limits<float>::infinity());
      for (int64_t ky = 0; ky < p.kh; ++ky) {
        const float* const line = x + (plane * p.h + oy * p.stride_y + ky) * p.w;
        const auto load = [&](int64_t at) {
          if (p.w - at >= Vec::width) return Vec::load(line + at);
          return at < p.w ? Vec::load(line + at, p.w - at) : Vec::all(0.0f);  // beyond the row there is no output
        };
        for (int64_t kx = 0; kx < p.kw; ++kx) {
          if constexpr (SX == 1) acc = fn::max(acc, load(ox + kx));
          else acc = fn::max(acc, evens(load(2 * ox + kx), load(2 * ox + kx + Vec::width)));
        }
      }
      const int64_t col = oy * p.ow + ox, lanes = p.ow - ox;
      float* const out = y + plane * p.oh * p.ow + col;
      finish_lanes(epi, acc, plane, col, out, lanes);
    }
  }
}

}  // namespace onnxc
