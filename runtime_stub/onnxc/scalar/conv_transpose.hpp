// ConvTranspose, as ONNX defines it, in any number of spatial dimensions.
#pragma once
#include "../base.hpp"
#include "accumulate.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

struct ConvTransposeParams {
  Ints strides, dilations, pads;  ///< pads: at the begin of each spatial axis
  int64_t group = 1;
};

/// y[n, co, o...] = bias[co] + sum over ci, k... of x[n, ci, i...] * w[ci, co, k...] where
/// i * stride - pad + k * dilation = o on every axis.
/// x [n, cin, spatial...], w [cin, cout / group, kernel...], bias null or [cout]. Sums in accumulator<T>, rounded once.
template <class T>
ONNXC_ANYWHERE void conv_transpose(Share share, Tensor<T> y, Tensor<const T> x, Tensor<const T> w, const T* bias, ConvTransposeParams p) {
  using Acc = accumulator<T>;
  const int rank = x.shape.rank - 2;
  const int64_t cin = x.shape[1] / p.group, cout = y.shape[1], per_group = w.shape[1], out_pixels = y.shape.count(2, y.shape.rank),
                in_pixels = x.shape.count(2, x.shape.rank), taps = w.shape.count(2, w.shape.rank);
  const auto [first, last] = share.slice(y.count());
  for (int64_t index = first; index < last; ++index) {
    const int64_t n = index / out_pixels / cout, co = index / out_pixels % cout, group = co / per_group;
    const T* const image = x.data + (n * x.shape[1] + group * cin) * in_pixels;
    const T* const weights = w.data + (group * cin * per_group + co % per_group) * taps;
    Acc sum = bias != nullptr ? static_cast<Acc>(bias[co]) : Acc(0);
    for (int64_t tap = 0; tap < taps; ++tap) {
      int64_t at = 0, step = 1, left = tap, rest = index % out_pixels;
      bool reaches = true;
      for (int axis = rank - 1; axis >= 0; --axis) {
        const int64_t distance = rest % y.shape[axis + 2] + p.pads[axis] - left % w.shape[axis + 2] * p.dilations[axis];
        rest /= y.shape[axis + 2];
        left /= w.shape[axis + 2];
        reaches = reaches && distance >= 0 && distance % p.strides[axis] == 0 && distance / p.strides[axis] < x.shape[axis + 2];
        at += reaches ? distance / p.strides[axis] * step : 0;
        step *= x.shape[axis + 2];
      }
      if (!reaches) continue;
      for (int64_t ci = 0; ci < cin; ++ci)
        sum += static_cast<Acc>(image[ci * in_pixels + at]) * static_cast<Acc>(weights[ci * per_group * taps + tap]);
    }
    y.data[index] = static_cast<T>(sum);
  }
}

}  // namespace onnxc::scalar
