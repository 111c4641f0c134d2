// Pooling of channels-last images, f32: the largest value, or the mean, of each window.
//
//   onnxc::gpu::max_pool(gpu, x, y, {.n = 1, .h = 112, .w = 112, .c = 64, .oh = 56, .ow = 56, .kh = 3, .kw = 3, .stride_y = 2, .stride_x = 2,
//                                    .pad_top = 1, .pad_left = 1, .x_pixel = 64, .y_pixel = 64});
//
// Pads never count as values. max propagates NaN, and is -infinity where a window has no pixel. The mean is over the pixels of
// the window; with count_include_pad also over pads, up to pad_bottom and pad_right. The epilogue sees pixels by channels.
// A thread has one channel of an output pixel; its neighbours have the next channels.
#pragma once
#include <limits>

#include "../contract/window.hpp"
#include "../strided.hpp"
#include "combine.hpp"
#include "finish.hpp"
#include "index.hpp"
#include "queue.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {

/// As onnxc::PoolParams (../pool.hpp).
struct PoolParams {
  int64_t n = 1, h = 1, w = 1, c, oh = 1, ow = 1;
  int64_t kh = 1, kw = 1, stride_y = 1, stride_x = 1, dilation_y = 1, dilation_x = 1;
  int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  int64_t x_pixel = 0, y_pixel = 0;
  bool count_include_pad = false;
};
static_assert(contract::has_usual_window(PoolParams{.c = 1}) && PoolParams{.c = 1}.pad_bottom == contract::kUsualPad &&
              PoolParams{.c = 1}.pad_right == contract::kUsualPad);

namespace detail {

/// A window's taps within [low, high). Those that are neighbours take no division, which costs more than a small window.
ONNXC_DEVICE TapSpan taps_within(int64_t origin, int64_t taps, int64_t dilation, int64_t low, int64_t high) {
  if (dilation == 1) return {origin, taps, 1, low, high};
  return {origin, taps, dilation, low, high};
}

}  // namespace detail

template <bool kAverage, class Epi>
struct Pool {
  static constexpr int kThreads = 256;
  struct Shared {};
  const float* x;
  float* y;
  PoolParams p;
  int64_t count;
  FastDivide channels, columns, rows;
  Epi epilogue;

  ONNXC_DEVICE void operator()(Shared&) const {
    const int64_t step = int64_t{blocks().x} * kThreads;
    for (int64_t i = int64_t{block().x} * kThreads + thread(); i < count; i += step) compute(i);
  }

 private:
  ONNXC_DEVICE void compute(int64_t i) const {
    const int64_t pixel = channels(i), line = columns(pixel), image = rows(line), channel = i - pixel * channels.divisor();
    const int64_t top = (line - image * rows.divisor()) * p.stride_y - p.pad_top,
                  left = (pixel - line * columns.divisor()) * p.stride_x - p.pad_left;
    const TapSpan wy = detail::taps_within(top, p.kh, p.dilation_y, 0, p.h), wx = detail::taps_within(left, p.kw, p.dilation_x, 0, p.w);
    const float* const plane = x + image * p.h * p.w * p.x_pixel + channel;
    float v = kAverage ? 0.0f : -std::numeric_limits<float>::infinity();
    for (int64_t ky = wy.first; ky < wy.last; ++ky) {
      const float* const row = plane + ((top + ky * p.dilation_y) * p.w + left) * p.x_pixel;
      for (int64_t kx = wx.first; kx < wx.last; ++kx) {
        const float value = row[kx * p.dilation_x * p.x_pixel];
        if constexpr (kAverage) v += value;
        else v = detail::Largest{}(v, value);
      }
    }
    if constexpr (kAverage) v /= static_cast<float>(divisor(top, left, wy.count() * wx.count()));
    y[pixel * p.y_pixel + channel] = detail::finished(epilogue, v, pixel, channel);
  }
  ONNXC_DEVICE int64_t divisor(int64_t top, int64_t left, int64_t inside) const {
    if (!p.count_include_pad) return inside > 0 ? inside : 1;
    const TapSpan wy = detail::taps_within(top, p.kh, p.dilation_y, -p.pad_top, p.h + p.pad_bottom),
                  wx = detail::taps_within(left, p.kw, p.dilation_x, -p.pad_left, p.w + p.pad_right);
    return max_of(wy.count() * wx.count(), 1);
  }
};

namespace detail {

template <bool kAverage, class Epi>
static void pool(Queue& gpu, const float* x, float* y, PoolParams p, const Epi& epilogue) noexcept {
  using Kernel = Pool<kAverage, Epi>;
  const int64_t count = p.n * p.oh * p.ow * p.c;
  if (count <= 0) return;
  launch(gpu, Kernel{x, y, p, count, FastDivide(p.c), FastDivide(p.ow), FastDivide(p.oh), epilogue}, grid_for(count, Kernel::kThreads));
}

}  // namespace detail

template <class Epi = Epilogue<Keep>>
static void max_pool(Queue& gpu, const float* x, float* y, PoolParams p, Epi epilogue = {}) noexcept {
  detail::pool<false>(gpu, x, y, p, epilogue);
}
template <class Epi = Epilogue<Keep>>
static void average_pool(Queue& gpu, const float* x, float* y, PoolParams p, Epi epilogue = {}) noexcept {
  detail::pool<true>(gpu, x, y, p, epilogue);
}

}  // namespace onnxc::gpu
