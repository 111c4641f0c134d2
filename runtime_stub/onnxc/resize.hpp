// Resizing of channels-last images by tables made at compile time: nearest, linear, cubic and antialiased resizing are one kernel.
//
//   y[oy, ox, :] = sum over ty, tx of wy[oy][ty] * wx[ox][tx] * x[iy[oy][ty], ix[ox][tx], :]
//
// An axis of `size` outputs has `taps` sources for each: index[size * taps], and weight[size * taps] or null where taps is 1 (nearest: values are
// copied). The epilogue sees pixels by channels. Only c floats of a pixel are touched.
#pragma once
#include "strided.hpp"
#include "tile.hpp"

namespace onnxc::inline ONNXC_ISA {

struct ResizeAxis {
  int64_t size;
  int taps;
  const int32_t* index;
  const float* weight;
};

struct ResizeParams {
  int64_t n = 1, h, w, c;
  int64_t x_pixel, y_pixel;
  ResizeAxis y, x;
};

namespace detail {

/// The sources of one output pixel and their weights. Held for `taps` x `taps` sources; for taps = 0, any number, they are looked up each time.
template <int taps>
class ResizeSources {
 public:
  ONNXC_INLINE ResizeSources(const float* image, const ResizeParams& p, int64_t oy, int64_t ox) {
    for (int i = 0; i < taps * taps; ++i) {
      at_[i] = image + (p.y.index[oy * taps + i / taps] * p.w + p.x.index[ox * taps + i % taps]) * p.x_pixel;
      if constexpr (taps > 1) weight_[i] = Vec::all(p.y.weight[oy * taps + i / taps] * p.x.weight[ox * taps + i % taps]);
    }
  }
  /// The output at `channel`; `lanes` is empty or how many.
  template <class... N>
  ONNXC_INLINE Vec value(int64_t channel, N... lanes) const {
    if constexpr (taps == 1) return Vec::load(at_[0] + channel, lanes...);
    Vec acc = Vec::all(0.0f);
    ONNXC_UNROLL for (int i = 0; i < taps * taps; ++i) acc = fma(Vec::load(at_[i] + channel, lanes...), weight_[i], acc);
    return acc;
  }

 private:
  const float* at_[taps * taps];
  Vec weight_[taps * taps];
};

template <>
class ResizeSources<0> {
 public:
  ONNXC_INLINE ResizeSources(const float* image, const ResizeParams& p, int64_t oy, int64_t ox) : image_(image), p_(p), oy_(oy), ox_(ox) {}
  template <class... N>
  ONNXC_INLINE Vec value(int64_t channel, N... lanes) const {
    Vec acc = Vec::all(0.0f);
    for (int ty = 0; ty < p_.y.taps; ++ty) {
      const int64_t y = oy_ * p_.y.taps + ty;
      for (int tx = 0; tx < p_.x.taps; ++tx) {
        const int64_t x = ox_ * p_.x.taps + tx;
        const float weight = (p_.y.weight != nullptr ? p_.y.weight[y] : 1.0f) * (p_.x.weight != nullptr ? p_.x.weight[x] : 1.0f);
        acc = fma(Vec::load(image_ + (p_.y.index[y] * p_.w + p_.x.index[x]) * p_.x_pixel + channel, lanes...), Vec::all(weight), acc);
      }
    }
    return acc;
  }

 private:
  const float* image_;
  const ResizeParams& p_;
  int64_t oy_, ox_;
};

template <int taps, class Epi>
void resize_pixels(Part part, const float* x, float* y, const ResizeParams& p, const Epi& epi) {
  const auto [first, last] = part.slice(p.n * p.y.size * p.x.size);
  GridPlace place(first, p.y.size, p.x.size);
  for (int64_t row = first; row < last; ++row, place.advance()) {
    const ResizeSources<taps> sources(x + place.n * p.h * p.w * p.x_pixel, p, place.y, place.x);
    float* const out = y + row * p.y_pixel;
    int64_t channel = 0;
    for (; channel + Vec::width <= p.c; channel += Vec::width) finish_vector(epi, sources.value(channel), row, channel, out + channel);
    if (const int64_t rest = p.c - channel; rest > 0) finish_vector(epi, sources.value(channel, rest), row, channel, out + channel, rest);
  }
}

}  // namespace detail

template <class Epi = Epilogue<Keep>>
void resize(Part part, const float* x, float* y, ResizeParams p, Epi epi = {}) {
  if (p.n * p.y.size * p.x.size <= 0) return;
  const bool weighs_y = p.y.weight != nullptr, weighs_x = p.x.weight != nullptr;
  if (!weighs_y && !weighs_x) detail::resize_pixels<1>(part, x, y, p, epi);
  else if (weighs_y && weighs_x && p.y.taps == 2 && p.x.taps == 2) detail::resize_pixels<2>(part, x, y, p, epi);
  else detail::resize_pixels<0>(part, x, y, p, epi);
}

}  // namespace onnxc
