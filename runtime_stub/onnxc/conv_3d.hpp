// Convolution and transposed convolution of channels-last volumes [n, d, h, w, c]: slice by slice as images, with the
// taps along the depth as further steps of k.
//
//   conv_3d<14, 2>(share, x, w, y, {.h = 32, .w = 32, .cin = 32, .oh = 32, .ow = 32, .cout = 64, .kh = 3, .kw = 3, .pad_top = 1,
//                                   .pad_left = 1, .x_pixel = 32, .y_pixel = 64, .d = 16, .od = 16, .kd = 3, .pad_front = 1,
//                                   .bias = w_bias}, Epilogue<Relu>{});
//
// Slices that the same taps reach form a batch of images. All slices in the middle of a volume do, so the weights
// stream by a few times and not once for each slice. Weights and parameters are those of conv and conv_transpose, with
// kd before kh.
#pragma once
#include "conv_transpose.hpp"
#include "passed.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {

/// Calls visit(first, count, taps) for runs of positions of [0, positions) along the depth that are reached by the same
/// taps. Position z has its origin at z * step, and a tap reaches it where it lies in [0, d).
template <class Visit>
ONNXC_INLINE void for_depths(int64_t positions, int64_t step, int64_t d, const Taps& taps, Visit visit) {
  const auto reaching = [&](int64_t z) {
    Taps some{0, taps.first, taps.step, taps.offset, taps.stride};
    for (int64_t t = 0; t < taps.count; ++t) {
      const int64_t at = z * step + taps.offset + t * taps.stride;
      if (at < 0 || at >= d) continue;
      if (some.count++ > 0) continue;
      some.first = taps.first + t * taps.step;
      some.offset = taps.offset + t * taps.stride;
    }
    return some;
  };
  for (int64_t first = 0, end = 0; first < positions; first = end) {
    const Taps own = reaching(first);
    for (++end; end < positions; ++end) {
      const Taps next = reaching(end);
      if (next.count != own.count || next.first != own.first) break;
    }
    visit(first, end - first, own);
  }
}

}  // namespace detail

/// See the head of the file.
template <int MR, int NV, class T, class Epi = Epilogue<Keep>>
void conv_3d(Share share, const float* x, const T* w, float* y, Passed<ConvParams> p, Epi epi = {}) {
  const int64_t slice = p.h * p.w * p.x_pixel, pixels = p.oh * p.ow;
  for (int64_t n = 0; n < p.n; ++n) {
    detail::for_depths(p.od, p.stride_z, p.d, {p.kd, 0, 1, -p.pad_front, p.dilation_z},
                       [&](int64_t first, int64_t count, const detail::Taps& kz) {
                         const detail::PixelGrid grid{.n = count,
                                                      .gh = p.oh,
                                                      .gw = p.ow,
                                                      .image = p.stride_z * slice,
                                                      .out_image = pixels,
                                                      .step_y = p.stride_y,
                                                      .step_x = p.stride_x,
                                                      .out_first = (n * p.od + first) * pixels,
                                                      .ky = {p.kh, 0, 1, -p.pad_top, p.dilation_y},
                                                      .kx = {p.kw, 0, 1, -p.pad_left, p.dilation_x},
                                                      .kz = kz,
                                                      .slice = slice};
                         detail::conv_grid<MR, NV>(share, x + (n * p.d + first * p.stride_z) * slice, w, y, p, grid, epi);
                       });
  }
}

/// See conv_transpose.hpp. There is a phase for each remainder of the depth, too.
template <int MR, int NV, class Epi = Epilogue<Keep>>
void conv_transpose_3d(Share share, const float* x, const float* w, float* y, Passed<ConvParams> p, Epi epi = {}) {
  const int64_t slice = p.h * p.w * p.x_pixel, pixels = p.oh * p.ow;
  for (int64_t n = 0; n < p.n; ++n) {
    for (int64_t phase = 0; phase < p.stride_z && phase < p.od; ++phase) {
      const detail::Taps taps = detail::phase_taps(p.kd, p.stride_z, p.dilation_z, p.pad_front, phase);
      detail::for_depths((p.od - phase + p.stride_z - 1) / p.stride_z, 1, p.d, taps,
                         [&](int64_t first, int64_t count, const detail::Taps& kz) {
                           detail::for_phases(p, [&](detail::PixelGrid g) {
                             g.n = count;
                             g.image = g.slice = slice;
                             g.out_image = p.stride_z * pixels;
                             g.out_first = (n * p.od + first * p.stride_z + phase) * pixels;
                             g.kz = kz;
                             detail::conv_grid<MR, NV>(share, x + (n * p.d + first) * slice, w, y, p, g, epi);
                           });
                         });
    }
  }
}

}  // namespace onnxc
