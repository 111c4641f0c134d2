// DeformConv, as ONNX defines it.
#pragma once
#include <cmath>

#include "../base.hpp"
#include "../fn.hpp"
#include "position.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

struct DeformConvParams {
  Ints strides, dilations, pads;  ///< pads: those before each axis
  int64_t group = 1, offset_group = 1;
};

/// A convolution whose samples lie at position * stride - pad + kernel * dilation + offset. Between pixels they are
/// interpolated linearly, outside of the image they are 0, and they are multiplied by the mask where there is one. x
/// [n, c, spatial...], w [oc, c / group, kernel...], offset [n, offset_group * kernel * axes, out...], mask [n,
/// offset_group * kernel, out...]; bias may be null. Summed in double. No aliasing. A share
/// has some of the places (n, out...); work: c * kernel doubles of its own.
template <class T>
ONNXC_ANYWHERE void deform_conv(Tensor<T> y, Tensor<const T> x, Tensor<const T> w, const T* offset, const T* bias, const T* mask,
                                double* work, DeformConvParams params, Share share = {}) {
  const int axes = x.shape.rank - 2;
  Position at, tap;
  at.shape.rank = tap.shape.rank = axes;
  for (int k = 0; k < axes; ++k) {
    at.shape[k] = y.shape[2 + k];
    tap.shape[k] = w.shape[2 + k];
  }
  const int64_t places = at.shape.count(), taps = tap.shape.count(), pixels = x.shape.count(2, x.shape.rank);
  const int64_t channels = x.shape[1], outs = w.shape[0], group_channels = w.shape[1], group_outs = outs / params.group;
  const int64_t shared = channels / params.offset_group;  // channels that are read at the same places
  const auto [first, last] = share.slice(x.shape[0] * places);
  if (first >= last) return;
  at.go_to(first % places);
  for (int64_t n = first / places; n * places < last; ++n) {
    const int64_t begin = max_of(first - n * places, 0), end = min_of(last - n * places, places);
    for (int64_t p = begin; p < end; ++p, at.next()) {
      for (int64_t g = 0; g < params.offset_group; ++g) {
        for (int64_t t = 0; t < taps; ++t, tap.next()) {
          int64_t corner[kMaxRank];
          double fraction[kMaxRank];
          bool inside = true;
          for (int k = 0; k < axes; ++k) {
            const double moved = fn::cast<double>(offset[(((n * params.offset_group + g) * taps + t) * axes + k) * places + p]);
            const double where = static_cast<double>(at[k] * params.strides[k] - params.pads[k] + tap[k] * params.dilations[k]) + moved;
            inside = inside && where > -1 && where < static_cast<double>(x.shape[2 + k]);
            corner[k] = inside ? static_cast<int64_t>(std::floor(where)) : 0;
            fraction[k] = where - static_cast<double>(corner[k]);
          }
          const double factor = mask != nullptr ? fn::cast<double>(mask[((n * params.offset_group + g) * taps + t) * places + p]) : 1.0;
          for (int64_t c = g * shared; c < (g + 1) * shared; ++c) work[c * taps + t] = 0;
          for (int which = 0; inside && which < 1 << axes; ++which) {
            double weight = factor;
            int64_t pixel = 0;
            for (int k = 0; k < axes && pixel >= 0; ++k) {
              const bool upper = (which >> k & 1) != 0;
              const int64_t i = corner[k] + upper;
              weight *= upper ? fraction[k] : 1 - fraction[k];
              pixel = i < 0 || i >= x.shape[2 + k] ? -1 : pixel * x.shape[2 + k] + i;
            }
            if (pixel < 0) continue;
            for (int64_t c = g * shared; c < (g + 1) * shared; ++c)
              work[c * taps + t] += weight * fn::cast<double>(x.data[(n * channels + c) * pixels + pixel]);
          }
        }
      }
      for (int64_t o = 0; o < outs; ++o) {
        const double* const samples = work + o / group_outs * group_channels * taps;
        double sum = bias != nullptr ? fn::cast<double>(bias[o]) : 0.0;
        for (int64_t i = 0; i < group_channels * taps; ++i) sum += samples[i] * fn::cast<double>(w.data[o * group_channels * taps + i]);
        y.data[(n * outs + o) * places + p] = fn::cast<T>(sum);
      }
    }
  }
}

}  // namespace onnxc::scalar
