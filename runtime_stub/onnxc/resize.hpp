// Resizing of channels-last images by tables made at compile time: nearest, linear, cubic and antialiased resizing are
// one kernel.
//
//   y[oy, ox, :] = sum over ty, tx of wy[oy][ty] * wx[ox][tx] * x[iy[oy][ty], ix[ox][tx], :]
//
// An axis of `size` outputs has `taps` sources for each: index[size * taps], and weight[size * taps] or null where taps
// is 1 (nearest: values are copied). Where index is null, the axis stays as it is. The epilogue sees pixels by
// channels. Only c floats of a pixel are touched.
//
// `down` and `across` are the taps of y and x; kAnyTaps stands for any number.
#pragma once
#include "passed.hpp"
#include "strided.hpp"
#include "tile.hpp"

namespace onnxc::inline ONNXC_ISA {

struct ResizeAxis {
  int64_t size, taps = 1;
  const int32_t* index = nullptr;
  const float* weight = nullptr;

  /// Source t of position i.
  ONNXC_INLINE int64_t source(int64_t i, int64_t t) const { return index != nullptr ? index[i * taps + t] : i; }
  ONNXC_INLINE float factor(int64_t i, int64_t t) const { return weight != nullptr ? weight[i * taps + t] : 1.0f; }
};
constexpr int kAnyTaps = 0;

struct ResizeParams {
  int64_t n = 1, h, w, c;
  int64_t x_pixel, y_pixel;
  ResizeAxis y, x;
};

namespace detail {

/// The sources of one output pixel and their weights. They are kept for all channels; kAnyTaps are looked up each time.
template <int down, int across>
class ResizeSources {
 public:
  static constexpr int count = down * across;
  ONNXC_INLINE ResizeSources(const float* image, const ResizeParams& p, int64_t oy, int64_t ox) {
    ONNXC_UNROLL for (int i = 0; i < count; ++i) {
      at_[i] = image + (p.y.source(oy, i / across) * p.w + p.x.source(ox, i % across)) * p.x_pixel;
      if constexpr (count > 1) weight_[i] = Vec::all(p.y.factor(oy, i / across) * p.x.factor(ox, i % across));
    }
  }
  /// The output at `channel`; `lanes` is empty or the number of lanes.
  template <class... N>
  ONNXC_INLINE Vec value(int64_t channel, N... lanes) const {
    if constexpr (count == 1) return Vec::load(at_[0] + channel, lanes...);
    Vec acc = Vec::all(0.0f);
    ONNXC_UNROLL for (int i = 0; i < count; ++i) acc = fma(Vec::load(at_[i] + channel, lanes...), weight_[i], acc);
    return acc;
  }

 private:
  const float* at_[count];
  Vec weight_[count];
};

template <>
class ResizeSources<kAnyTaps, kAnyTaps> {
 public:
  ONNXC_INLINE ResizeSources(const float* image, const ResizeParams& p, int64_t oy, int64_t ox) : image_(image), p_(p), oy_(oy), ox_(ox) {}
  template <class... N>
  ONNXC_INLINE Vec value(int64_t channel, N... lanes) const {
    Vec acc = Vec::all(0.0f);
    for (int64_t ty = 0; ty < p_.y.taps; ++ty) {
      for (int64_t tx = 0; tx < p_.x.taps; ++tx) {
        const float* const from = image_ + (p_.y.source(oy_, ty) * p_.w + p_.x.source(ox_, tx)) * p_.x_pixel;
        acc = fma(Vec::load(from + channel, lanes...), Vec::all(p_.y.factor(oy_, ty) * p_.x.factor(ox_, tx)), acc);
      }
    }
    return acc;
  }

 private:
  const float* image_;
  const ResizeParams& p_;
  int64_t oy_, ox_;
};

}  // namespace detail

template <int down, int across, class Epi = Epilogue<Keep>>
void resize(Share share, const float* x, float* y, Passed<ResizeParams> p, Epi epi = {}) {
  const auto [first, last] = share.slice(p.n * p.y.size * p.x.size);
  if (first >= last) return;
  GridPoint point(first, p.y.size, p.x.size);
  for (int64_t row = first; row < last; ++row, point.advance()) {
    const detail::ResizeSources<down, across> sources(x + point.n * p.h * p.w * p.x_pixel, p, point.y, point.x);
    float* const out = y + row * p.y_pixel;
    int64_t channel = 0;
    for (; channel + Vec::width <= p.c; channel += Vec::width) finish_vector(epi, sources.value(channel), row, channel, out + channel);
    if (const int64_t rest = p.c - channel; rest > 0) finish_vector(epi, sources.value(channel, rest), row, channel, out + channel, rest);
  }
}

}  // namespace onnxc
