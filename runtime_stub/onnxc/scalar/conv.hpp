// Conv, as ONNX defines it, in any number of spatial dimensions.
#pragma once
#include "../base.hpp"
#include "accumulate.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

struct ConvParams {
  Ints strides, dilations, pads;  ///< pads: at the begin of each spatial axis
  int64_t group = 1;
  int64_t outside = 0;  ///< what x is there
};

/// y[n, co, o...] = bias[co] + sum over ci, k... of x[n, ci, o * stride - pad + k * dilation] * w[co, ci, k...].
/// x [n, cin, spatial...], w [cout, cin / group, kernel...], bias null or [cout]. Sums in product_accumulator<Y, X>, rounded once.
/// A share has some elements of y.
template <class Y, class X, class W, class Bias>
ONNXC_ANYWHERE void conv(Tensor<Y> y, Tensor<const X> x, Tensor<const W> w, const Bias* bias, ConvParams p, Share share = {}) {
  using Acc = product_accumulator<Y, X>;
  const int rank = x.shape.rank - 2;
  const int64_t cin = w.shape[1], cout = y.shape[1], per_group = cout / p.group, out_pixels = y.shape.count(2, y.shape.rank),
                in_pixels = x.shape.count(2, x.shape.rank), taps = w.shape.count(2, w.shape.rank);
  const auto [first, last] = share.slice(y.count());
  for (int64_t index = first; index < last; ++index) {
    const int64_t n = index / out_pixels / cout, co = index / out_pixels % cout;
    const X* const image = x.data + (n * x.shape[1] + co / per_group * cin) * in_pixels;
    int64_t origin[kMaxRank], rest = index % out_pixels;
    for (int axis = rank - 1; axis >= 0; --axis) {
      origin[axis] = rest % y.shape[axis + 2] * p.strides[axis] - p.pads[axis];
      rest /= y.shape[axis + 2];
    }
    Acc sum = bias != nullptr ? static_cast<Acc>(bias[co]) : Acc(0);
    for (int64_t tap = 0; tap < taps; ++tap) {
      int64_t at = 0, step = 1, left = tap;
      bool inside = true;
      for (int axis = rank - 1; axis >= 0; --axis) {
        const int64_t i = origin[axis] + left % w.shape[axis + 2] * p.dilations[axis];
        left /= w.shape[axis + 2];
        inside = inside && i >= 0 && i < x.shape[axis + 2];
        at += i * step;
        step *= x.shape[axis + 2];
      }
      if (!inside && p.outside == 0) continue;
      for (int64_t ci = 0; ci < cin; ++ci) {
        const Acc value = inside ? static_cast<Acc>(image[ci * in_pixels + at]) : static_cast<Acc>(p.outside);
        sum += value * static_cast<Acc>(w.data[(co * cin + ci) * taps + tap]);
      }
    }
    y.data[index] = static_cast<Y>(sum);
  }
}

}  // namespace onnxc::scalar
