// Resize, as ONNX defines it: along one axis after the other, by a table of sources.
//
// Each of an axis's `out` positions has `taps` sources: places index[j * taps + t] with weights weight[j * taps + t].
// resize_table computes both. The compiler calls it where all extents are constants, the emitted code calls it
// elsewhere. An index of -1 stands for the extrapolation value.
//
// Coordinates are computed in the type of the weights: in float the results are those of ONNX Runtime to the last bit or two.
#pragma once
#include "../fn.hpp"

namespace onnxc::inline ONNXC_ISA {

enum class Coordinates {
  half_pixel,
  half_pixel_symmetric,
  pytorch_half_pixel,
  align_corners,
  asymmetric,
  tf_half_pixel_for_nn,
  tf_crop_and_resize
};
/// The first five copy the nearest value; `simple` is floor when enlarging and ceil when shrinking.
enum class Filter { floor, ceil, round_prefer_floor, round_prefer_ceil, simple, linear, cubic };

struct ResizeTableParams {
  int64_t in, out;
  float scale = 0;   // 0: out / in
  int64_t taps = 1;  // resize_taps
  Filter filter = Filter::linear;
  Coordinates coordinates = Coordinates::half_pixel;
  float cubic_coefficient = -0.75f;
  bool antialias = false, exclude_outside = false;
  float roi_start = 0, roi_end = 1;
  const float* roi = nullptr;  // where given: its elements roi_at and roi_at + roi_axes are start and end
  int64_t roi_at = 0, roi_axes = 0;
  const float* scales = nullptr;  // where given: its element scale_at is the scale
  int64_t scale_at = 0;
};

/// The most sources that a position has. Antialiasing spreads the filter when shrinking.
constexpr int64_t resize_taps(Filter filter, bool antialias, double scale) {
  if (filter != Filter::linear && filter != Filter::cubic) return 1;
  const int64_t support = filter == Filter::linear ? 1 : 2;
  if (!antialias || scale >= 1) return 2 * support;
  int64_t n = support;  // ceil(support / scale)
  while (static_cast<double>(n) * scale < static_cast<double>(support)) ++n;
  return 2 * n;
}

namespace detail {

/// The coordinate from which output position i is made.
template <class W>
ONNXC_ANYWHERE W resize_source(const ResizeTableParams& p, int64_t i) {
  const W in = static_cast<W>(p.in), out = static_cast<W>(p.out), x = static_cast<W>(i);
  const W scale = p.scale != 0 ? static_cast<W>(p.scale) : out / in, length = p.scale != 0 ? scale * in : out;
  switch (p.coordinates) {
    case Coordinates::half_pixel: return (x + W(0.5)) / scale - W(0.5);
    case Coordinates::half_pixel_symmetric: return in / 2 * (1 - out / length) + (x + W(0.5)) / scale - W(0.5);
    case Coordinates::pytorch_half_pixel: return p.out > 1 ? (x + W(0.5)) / scale - W(0.5) : W(0);
    case Coordinates::align_corners: return p.out > 1 ? x * (in - 1) / (length - 1) : W(0);
    case Coordinates::asymmetric: return x / scale;
    case Coordinates::tf_half_pixel_for_nn: return (x + W(0.5)) / scale;
    case Coordinates::tf_crop_and_resize: break;
  }
  const W start = static_cast<W>(p.roi != nullptr ? p.roi[p.roi_at] : p.roi_start),
          end = static_cast<W>(p.roi != nullptr ? p.roi[p.roi_at + p.roi_axes] : p.roi_end);
  return p.out > 1 ? start * (in - 1) + x * (end - start) * (in - 1) / (length - 1) : W(0.5) * (start + end) * (in - 1);
}

template <class W>
ONNXC_ANYWHERE W nearest_source(Filter filter, W x, bool shrinks) {
  const W low = std::floor(x), fraction = x - low;
  switch (filter) {
    case Filter::floor: return low;
    case Filter::ceil: return std::ceil(x);
    case Filter::round_prefer_ceil: return fraction >= W(0.5) ? low + 1 : low;
    case Filter::simple: return shrinks ? std::ceil(x) : low;
    default: return fraction > W(0.5) ? low + 1 : low;
  }
}

/// The filter at distance d, in units of a (stretched) pixel.
template <class W>
ONNXC_ANYWHERE W filter_weight(Filter filter, W d, W a) {
  d = std::fabs(d);
  if (filter == Filter::linear) return d < 1 ? 1 - d : W(0);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((d - 5) * d + 8) * d * a - 4 * a : W(0);
}

}  // namespace detail

/// Fills index[out * taps] and, where taps > 1, weight[out * taps]. Any parameters; positions without a source get index -1.
/// A share has some of the positions.
template <class W>
ONNXC_ANYWHERE void resize_table(ResizeTableParams p, int32_t* index, W* weight, Share share = {}) {
  if (p.scales != nullptr) p.scale = p.scales[p.scale_at];
  const W scale = p.scale != 0 ? static_cast<W>(p.scale) : static_cast<W>(p.out) / static_cast<W>(p.in);
  const auto [begin, end] = share.slice(p.out);
  for (int64_t j = begin; j < end; ++j) {
    int32_t* const at = index + j * p.taps;
    W x = detail::resize_source<W>(p, j);
    const bool outside = p.in <= 0 || (p.coordinates == Coordinates::tf_crop_and_resize && !(x >= 0 && x <= static_cast<W>(p.in - 1)));
    x = fn::clip(x, W(-1e6), static_cast<W>(p.in) + W(1e6));
    const auto place = [&](int64_t i) { return static_cast<int32_t>(outside ? -1 : i < 0 ? 0 : i > p.in - 1 ? p.in - 1 : i); };
    if (p.filter != Filter::linear && p.filter != Filter::cubic) {
      at[0] = place(fn::cast<int64_t>(detail::nearest_source(p.filter, x, p.out < p.in)));
      continue;
    }
    W* const w = weight + j * p.taps;
    const int64_t first = fn::cast<int64_t>(std::ceil(x)) - p.taps / 2;
    const W stretch = p.antialias && scale < 1 ? scale : W(1);
    W sum = 0;
    for (int64_t t = 0; t < p.taps; ++t) {
      const int64_t i = first + t;
      at[t] = place(i);
      w[t] = p.exclude_outside && (i < 0 || i >= p.in)
                 ? W(0)
                 : detail::filter_weight(p.filter, (static_cast<W>(i) - x) * stretch, static_cast<W>(p.cubic_coefficient));
      sum += w[t];
    }
    if (!p.exclude_outside && stretch == 1) continue;
    for (int64_t t = 0; t < p.taps && sum != 0; ++t) w[t] /= sum;
  }
}

namespace scalar {

struct ResizeParams {
  int64_t outer, in, out, inner, taps;
  double extrapolation = 0;
  bool rounds = false;  // integers: to nearest even, else toward zero
};

/// y[o, j, i] = sum over t of weight[j][t] * x[o, index[j][t], i] for x [outer, in, inner] and y [outer, out, inner],
/// row-major; the value itself where taps is 1. Sums in W; integers saturate.
template <class Out, class In, class W>
ONNXC_ANYWHERE void resize(Share share, Out* y, const In* x, const int32_t* index, const W* weight, ResizeParams p) {
  const auto [first, last] = share.slice(p.outer * p.out);
  for (int64_t row = first; row < last; ++row) {
    const int64_t j = row % p.out;
    const In* const from = x + row / p.out * p.in * p.inner;
    const int32_t* const at = index + j * p.taps;
    Out* const to = y + row * p.inner;
    for (int64_t i = 0; i < p.inner; ++i) {
      if (at[0] < 0) {
        to[i] = fn::cast<Out>(p.extrapolation);
      } else if (p.taps == 1) {
        to[i] = fn::cast<Out>(from[at[0] * p.inner + i]);
      } else {
        W sum = 0;
        for (int64_t t = 0; t < p.taps; ++t) sum += weight[j * p.taps + t] * fn::cast<W>(from[at[t] * p.inner + i]);
        if constexpr (std::is_integral_v<Out>) sum = p.rounds ? std::nearbyint(sum) : sum;
        to[i] = fn::cast<Out>(sum);
      }
    }
  }
}

}  // namespace scalar

}  // namespace onnxc
