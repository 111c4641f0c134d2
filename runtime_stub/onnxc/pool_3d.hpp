// Pooling of channels-last volumes [n, d, h, w, c], as pool.hpp does of images.
//
//   max_pool_3d(share, x, y, {.h = 32, .w = 32, .c = 32, .oh = 16, .ow = 16, .kh = 2, .kw = 2, .stride_y = 2, .stride_x = 2,
//                             .x_pixel = 32, .y_pixel = 32, .d = 16, .od = 8, .kd = 2, .stride_z = 2});
#pragma once
#include "passed.hpp"
#include "pool.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {

/// scale(front, top, left, pixels): the factor of the combined values of a window of `pixels` pixels.
template <class Combine, class Scale, class Epi>
ONNXC_INLINE void pool_3d(Share share, const float* x, float* y, const PoolParams& p, float start, Combine combine, Scale scale,
                          const Epi& epi) {
  const auto [begin, end] = share.slice(p.n * p.od * p.oh * p.ow);
  GridPoint point(begin, p.oh, p.ow);
  for (int64_t row = begin; row < end; ++row, point.advance()) {
    const int64_t front = point.n % p.od * p.stride_z - p.pad_front, top = point.y * p.stride_y - p.pad_top,
                  left = point.x * p.stride_x - p.pad_left;
    const TapSpan wz(front, p.kd, p.dilation_z, 0, p.d), wy(top, p.kh, p.dilation_y, 0, p.h), wx(left, p.kw, p.dilation_x, 0, p.w);
    const float factor = scale(front, top, left, wz.count() * wy.count() * wx.count());
    const float* const volume = x + point.n / p.od * p.d * p.h * p.w * p.x_pixel;
    for (int64_t channel = 0; channel < p.c; channel += Vec::width) {
      const int64_t lanes = p.c - channel < Vec::width ? p.c - channel : Vec::width;
      Vec acc = Vec::all(start);
      for (int64_t kz = wz.first; kz < wz.last; ++kz) {
        for (int64_t ky = wy.first; ky < wy.last; ++ky) {
          const int64_t line = (front + kz * p.dilation_z) * p.h + top + ky * p.dilation_y;
          for (int64_t kx = wx.first; kx < wx.last; ++kx) {
            const float* const pixel = volume + (line * p.w + left + kx * p.dilation_x) * p.x_pixel + channel;
            acc = combine(acc, lanes == Vec::width ? Vec::load(pixel) : Vec::load(pixel, lanes));
          }
        }
      }
      finish_lanes(epi, factor != 1.0f ? acc * Vec::all(factor) : acc, row, channel, y + row * p.y_pixel + channel, lanes);
    }
  }
}

}  // namespace detail

template <class Epi = Epilogue<Keep>>
void max_pool_3d(Share share, const float* x, float* y, Passed<PoolParams> p, Epi epi = {}) {
  detail::pool_3d(share, x, y, p, detail::kMaxStart, detail::Larger{}, [](int64_t, int64_t, int64_t, int64_t) { return 1.0f; }, epi);
}

template <class Epi = Epilogue<Keep>>
void average_pool_3d(Share share, const float* x, float* y, Passed<PoolParams> p, Epi epi = {}) {
  detail::pool_3d(
      share, x, y, p, 0.0f, [](Vec a, Vec b) { return a + b; },
      [&p](int64_t front, int64_t top, int64_t left, int64_t pixels) {
        if (p.count_include_pad)
          pixels = TapSpan(front, p.kd, p.dilation_z, -p.pad_front, p.d + p.pad_back).count() *
                   TapSpan(top, p.kh, p.dilation_y, -p.pad_top, p.h + p.pad_bottom).count() *
                   TapSpan(left, p.kw, p.dilation_x, -p.pad_left, p.w + p.pad_right).count();
        return 1.0f / static_cast<float>(pixels > 0 ? pixels : 1);
      },
      epi);
}

}  // namespace onnxc
