// Transposed convolution of channels-last images, gathered: each output pixel adds up the taps that reach it.
//
//   y[n, oy, ox, co] = epilogue(bias[co] + sum of x[n, iy, ix, ci] * w[ci, co, ky, kx] over iy * stride_y - pad_top + ky * dilation_y = oy, ...)
//
// Output pixels of one phase (oy mod stride_y, ox mod stride_x) are reached by the same taps, and neighbours in the phase read neighbouring
// input pixels: each phase is a convolution of stride 1 with a part of the kernel. No zeros are inserted and no column buffer is made.
//
//   kernel 3, stride 2, pad 1:   phase 0 (oy = 0, 2, ...): ky = 1 reads iy = oy / 2
//                                phase 1 (oy = 1, 3, ...): ky = 0 reads iy = (oy + 1) / 2, ky = 2 reads iy = (oy - 1) / 2
//
// w packed like conv's (pack::conv_transpose). Parameters are conv's, with strides and pads in their ONNX meaning for ConvTranspose.
#pragma once
#include "conv.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {

/// The taps along one axis that reach phase `phase`: those k with (phase + pad - k * dilation) divisible by the stride. They are evenly spaced.
constexpr Taps phase_taps(int64_t kernel, int64_t stride, int64_t dilation, int64_t pad, int64_t phase) {
  Taps taps{0, 0, 1, 0, 0};
  for (int64_t k = 0; k < kernel; ++k) {
    const int64_t distance = phase + pad - k * dilation;
    if (distance % stride != 0) continue;
    if (taps.count == 0) {
      taps.first = k;
      taps.offset = distance / stride;
    } else if (taps.count == 1) {
      taps.step = k - taps.first;
      taps.stride = distance / stride - taps.offset;
    }
    ++taps.count;
  }
  return taps;
}

}  // namespace detail

/// See the head of the file.
template <int MR, int NV, class Epi = Epilogue<Keep>>
void conv_transpose(Part part, const float* x, const float* w, float* y, ConvParams p, Epi epi = {}) {
  for (int64_t phase_y = 0; phase_y < p.stride_y && phase_y < p.oh; ++phase_y) {
    for (int64_t phase_x = 0; phase_x < p.stride_x && phase_x < p.ow; ++phase_x) {
      const detail::PixelGrid grid{.n = p.n,
                                   .gh = (p.oh - phase_y + p.stride_y - 1) / p.stride_y,
                                   .gw = (p.ow - phase_x + p.stride_x - 1) / p.stride_x,
                                   .step_y = 1,
                                   .step_x = 1,
                                   .out_step_y = p.stride_y,
                                   .out_step_x = p.stride_x,
                                   .out_y = phase_y,
                                   .out_x = phase_x,
                                   .ky = detail::phase_taps(p.kh, p.stride_y, p.dilation_y, p.pad_top, phase_y),
                                   .kx = detail::phase_taps(p.kw, p.stride_x, p.dilation_x, p.pad_left, phase_x)};
      detail::conv_grid<MR, NV>(part, x, w, y, p, grid, epi);
    }
  }
}

}  // namespace onnxc
