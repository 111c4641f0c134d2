// GridSample, as ONNX defines it (and PyTorch): an image read at any coordinates.
#pragma once
#include <cmath>

#include "../base.hpp"
#include "../fn.hpp"
#include "position.hpp"

namespace onnxc::inline ONNXC_ISA {

enum class GridMode { nearest, linear, cubic };
enum class GridPadding { zeros, border, reflection };

struct GridSampleParams {
  GridMode mode = GridMode::linear;
  GridPadding padding = GridPadding::zeros;
  bool align_corners = false;  ///< -1 and 1 are the centres of the corner pixels, not their outer edges
};

namespace scalar {

/// x mirrored at low and high until it is between them.
template <class C>
ONNXC_ANYWHERE C reflected(C x, C low, C high) {
  const C range = high - low;
  if (!(range > 0)) return low;
  const C beyond = x < low ? low - x : x > high ? x - high : C(0);
  if (beyond == 0) return x;
  const C turns = std::floor(beyond / range), rest = beyond - turns * range;
  const bool even = std::fmod(turns, C(2)) == 0;
  return (x < low) == even ? low + rest : high - rest;
}

/// The pixels that a coordinate of one axis reads, with their weights. Index -1 reads zero.
template <class C>
struct GridTaps {
  int count = 1;
  int64_t index[4] = {};
  C weight[4] = {};
};

template <class C>
ONNXC_ANYWHERE GridTaps<C> grid_taps(C normalised, int64_t n, const GridSampleParams& params) {
  const C last = static_cast<C>(n - 1);
  const C low = params.align_corners ? C(0) : C(-0.5), high = params.align_corners ? last : last + C(0.5);
  constexpr C kFar = C(1 << 30);  // coordinates beyond it, and NaN, are as far as this
  C x = params.align_corners ? (normalised + 1) / 2 * last : ((normalised + 1) * static_cast<C>(n) - 1) / 2;
  x = x > -kFar ? x < kFar ? x : kFar : -kFar;
  if (params.mode == GridMode::nearest) x = std::nearbyint(x);
  if (params.padding == GridPadding::reflection && (x < low || x > high)) x = reflected(x, low, high);
  const auto pixel = [&](int64_t i) -> int64_t {
    if (i >= 0 && i < n) return i;
    if (n == 0 || params.padding == GridPadding::zeros) return -1;
    if (params.padding == GridPadding::reflection) i = static_cast<int64_t>(reflected(static_cast<C>(i), low, high));
    return i < 0 ? 0 : i >= n ? n - 1 : i;
  };
  GridTaps<C> taps;
  if (params.mode == GridMode::nearest) {
    taps.index[0] = pixel(static_cast<int64_t>(x));
    taps.weight[0] = 1;
    return taps;
  }
  const C floor = std::floor(x), t = x - floor;
  const int64_t base = static_cast<int64_t>(floor);
  if (params.mode == GridMode::linear) {
    taps.count = 2;
    taps.weight[0] = 1 - t;
    taps.weight[1] = t;
  } else {  // Keys's cubic convolution with a = -0.75
    constexpr C a = C(-0.75);
    const auto outer = [&](C d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
    const auto inner = [&](C d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
    taps.count = 4;
    taps.weight[0] = outer(t + 1);
    taps.weight[1] = inner(t);
    taps.weight[2] = inner(1 - t);
    taps.weight[3] = outer(2 - t);
  }
  for (int k = 0; k < taps.count; ++k) taps.index[k] = pixel(base + k - (taps.count == 4 ? 1 : 0));
  return taps;
}

/// y[n, c, p] = x[n, c, grid[n, p]]: p runs over y's spatial axes, of which there may be any number. The coordinates of
/// grid[n, p] are in the order (x, y, z), from -1 to 1 over the image. Pixels are weighted with the product of their
/// axes' weights. Computed in double where an operand is double, else in float. Padding is applied to each pixel that
/// is read. In cubic mode PyTorch and ONNX Runtime do so too, while onnx.reference moves the coordinate to the border
/// first. A share has some of the points (n, p).
template <class T, class G>
ONNXC_ANYWHERE void grid_sample(Tensor<T> y, Tensor<const T> x, Tensor<const G> grid, GridSampleParams params, Share share = {}) {
  using C = std::conditional_t<std::is_same_v<T, double> || std::is_same_v<G, double>, double, float>;
  const int axes = x.shape.rank - 2;
  const int64_t batches = y.shape[0], channels = y.shape[1], pixels = y.shape.count(2, y.shape.rank),
                image = x.shape.count(2, x.shape.rank);
  const auto [first, last] = share.slice(batches * pixels);
  for (int64_t point = first; point < last; ++point) {
    const int64_t n = point / pixels, p = point % pixels;
    GridTaps<C> taps[kMaxRank];
    const G* at = grid.data + point * axes;
    for (int k = 0; k < axes; ++k) taps[k] = grid_taps(fn::cast<C>(at[axes - 1 - k]), x.shape[2 + k], params);
    for (int64_t c = 0; c < channels; ++c) {
      const T* from = x.data + (n * channels + c) * image;
      C sum = 0;
      Position tap;
      tap.shape.rank = axes;
      int64_t count = 1;
      for (int k = 0; k < axes; ++k) count *= tap.shape[k] = taps[k].count;
      for (int64_t i = 0; i < count; ++i, tap.next()) {
        C weight = 1;
        int64_t offset = 0;
        for (int k = 0; k < axes && offset >= 0; ++k) {
          const int64_t index = taps[k].index[tap[k]];
          weight *= taps[k].weight[tap[k]];
          offset = index < 0 ? -1 : offset * x.shape[2 + k] + index;
        }
        if (offset >= 0) sum += weight * fn::cast<C>(from[offset]);
      }
      y.data[(n * channels + c) * pixels + p] = fn::cast<T>(sum);
    }
  }
}

}  // namespace scalar
}  // namespace onnxc
