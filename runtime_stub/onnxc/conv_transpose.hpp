// Transposed convolution of channels-last images, gathered: each output pixel adds up the taps that reach it.
//
//   y[n, oy, ox, co] = epilogue(bias[co] + sum of x[n, iy, ix, ci] * w[ci, co, ky, kx]
//                               over iy * stride_y - pad_top + ky * dilation_y = oy, ...)
//
// Output pixels of one phase (oy mod stride_y, ox mod stride_x) are reached by the same taps, and neighbours in the
// phase read neighbouring input pixels. So each phase is a convolution of stride 1 with a part of the kernel. No zeros
// are inserted, and there is no column buffer. All phases of a band of rows run before those of the next, while its
// input is in L2.
//
//   kernel 3, stride 2, pad 1:   phase 0 (oy = 0, 2, ...): ky = 1 reads iy = oy / 2
//                                phase 1 (oy = 1, 3, ...): ky = 0 reads iy = (oy + 1) / 2, ky = 2 reads iy = (oy - 1) / 2
//
// w packed like conv's (pack::conv_transpose). Parameters are conv's, with strides and pads in their ONNX meaning for ConvTranspose.
#pragma once
#include "conv.hpp"
#include "passed.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {

/// The taps along one axis that reach phase `phase`: those k with (phase + pad - k * dilation) divisible by the stride.
/// They are evenly spaced.
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

/// Calls visit(grid) for the pixels of each phase.
template <class Visit>
ONNXC_INLINE void for_phases(const ConvParams& p, Visit visit) {
  for (int64_t phase_y = 0; phase_y < p.stride_y && phase_y < p.oh; ++phase_y) {
    for (int64_t phase_x = 0; phase_x < p.stride_x && phase_x < p.ow; ++phase_x) {
      visit(PixelGrid{.n = p.n,
                      .gh = (p.oh - phase_y + p.stride_y - 1) / p.stride_y,
                      .gw = (p.ow - phase_x + p.stride_x - 1) / p.stride_x,
                      .image = p.h * p.w * p.x_pixel,
                      .out_image = p.oh * p.ow,
                      .step_y = 1,
                      .step_x = 1,
                      .out_step_y = p.stride_y,
                      .out_step_x = p.stride_x,
                      .out_y = phase_y,
                      .out_x = phase_x,
                      .ky = phase_taps(p.kh, p.stride_y, p.dilation_y, p.pad_top, phase_y),
                      .kx = phase_taps(p.kw, p.stride_x, p.dilation_x, p.pad_left, phase_x)});
    }
  }
}

}  // namespace detail

/// See the head of the file.
template <int MR, int NV, class Epi = Epilogue<Keep>>
void conv_transpose(Share share, const float* x, const float* w, float* y, Passed<ConvParams> p, Epi epi = {}) {
  if (p.n * p.oh * p.ow <= 0) return;
  constexpr int64_t kBandFloats = int64_t{64} << 10;  // of input and output together: a part of L2
  const int64_t row_floats = p.w * p.x_pixel + p.stride_y * p.ow * p.y_pixel,
                rows = (p.oh + p.stride_y - 1) / p.stride_y;  // of the longest phase
  const int64_t panels = (p.cout / p.group + NV * Vec::width - 1) / (NV * Vec::width) * p.group;
  const bool by_rows =
      detail::ProductShare(share, p.n * rows * ((p.ow + p.stride_x - 1) / p.stride_x), p.cout, p.kh * p.kw * p.cin / p.group, MR, panels)
          .by_rows;
  const int64_t fits = kBandFloats / row_floats, own_rows = by_rows ? (p.n * rows + share.count - 1) / share.count : rows,
                most = fits < own_rows ? fits : own_rows;
  const int64_t height = most < 1 ? 1 : most < rows ? most : rows, bands = (rows + height - 1) / height;
  const bool by_bands = by_rows && p.n * bands >= share.count;
  const Share::Range own_bands = by_bands ? share.slice(p.n * bands) : Share::Range{0, p.n * bands};
  const Share::Range own_panels = by_bands ? Share::Range{0, panels} : share.slice(panels);
  for (int64_t band = own_bands.begin; band < own_bands.end; ++band) {
    const int64_t image = band / bands, top = band % bands * height;
    detail::for_phases(p, [&](const detail::PixelGrid& g) {
      const int64_t from = top < g.gh ? top : g.gh, to = top + height < g.gh ? top + height : g.gh;
      detail::conv_pixels<MR, NV>((image * g.gh + from) * g.gw, (image * g.gh + to) * g.gw, own_panels.begin, own_panels.end, x, w, y, p, g,
                                  TileOrder{}, epi);
    });
  }
}

}  // namespace onnxc
