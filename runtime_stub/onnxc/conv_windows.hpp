// Convolution of channels-last images on small cores, whose memory has no cache: the windows of a few outputs are copied, one row of k floats
// each, and multiplied by all panels of weights while they are there.
//
//   conv_windows<4, 4>(share, x, w, y, windows, {.h = 32, .w = 32, .cin = 3, .oh = 32, .ow = 32, .cout = 16, .kh = 3, .kw = 3, .pad_top = 1,
//                                                .pad_left = 1, .x_pixel = 3, .y_pixel = 16, .bias = w_bias}, Epilogue<Relu>{});
//
// So the loop over k is never interrupted, not by a kernel of few channels either, and borders cost it no decision. A copy takes about a
// tenth of the time of the products by 16 outputs. A window of one run, as of a 1x1 kernel, is read where it lies.
//
// w and parameters are as for conv, which see; no volumes. windows: contract::window_floats floats of this share for MR windows.
#pragma once
#include "contract/windows.hpp"
#include "conv.hpp"
#include "passed.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {

/// How windows lie over an image, in numbers of the machine's size.
struct FloatWindow {
  int h, w, pixel, kh, kw, dilation_y, dilation_x, channels;

  ONNXC_INLINE explicit FloatWindow(const ConvParams& p)
      : h(static_cast<int>(p.h)),
        w(static_cast<int>(p.w)),
        pixel(static_cast<int>(p.x_pixel)),
        kh(static_cast<int>(p.kh)),
        kw(static_cast<int>(p.kw)),
        dilation_y(static_cast<int>(p.dilation_y)),
        dilation_x(static_cast<int>(p.dilation_x)),
        channels(static_cast<int>(p.cin / p.group)) {}
  /// Whether neighbours in a row of the window are one run of floats.
  bool joined() const { return pixel == channels && dilation_x == 1; }
  /// Whether the window whose first tap is at (y, x) is one run, inside of the image.
  bool is_run(int y, int x) const { return kh == 1 && (kw == 1 || joined()) && y >= 0 && y < h && x >= 0 && x + kw <= w; }
};

/// Writes n zeros. Returns the end.
ONNXC_INLINE float* write_zeros(float* to, int n) {
  for (; n > 0; --n) *to++ = 0.0f;
  return to;
}

/// Writes the window whose first tap is at (y, x) of `image`.
ONNXC_NOCLONE inline void copy_window(const FloatWindow& s, float* to, const float* image, int y, int x) {
  for (int ky = 0; ky < s.kh; ++ky, y += s.dilation_y) {
    const float* const row = image + static_cast<std::ptrdiff_t>(y) * s.w * s.pixel;
    const bool inside = y >= 0 && y < s.h;
    if (!inside) {
      to = write_zeros(to, s.kw * s.channels);
    } else if (s.joined()) {
      const int left = x < 0 ? -x < s.kw ? -x : s.kw : 0, right = x + s.kw > s.w ? s.w - x > left ? s.w - x : left : s.kw;
      to = write_zeros(to, left * s.pixel);
      to = copy_floats(to, row + (x + left) * s.pixel, (right - left) * s.pixel);
      to = write_zeros(to, (s.kw - right) * s.pixel);
    } else {
      for (int kx = 0, ix = x; kx < s.kw; ++kx, ix += s.dilation_x)
        to = ix >= 0 && ix < s.w ? copy_floats(to, row + ix * s.pixel, s.channels) : write_zeros(to, s.channels);
    }
  }
}

}  // namespace detail

/// See the head of the file. x must not overlap y; operands of the epilogue may be y itself.
template <int MR, int NV, class T, class Epi = Epilogue<Keep>>
void conv_windows(Share share, const float* x, const T* w, float* y, float* windows, Passed<ConvParams> p, Epi epi = {}) {
  constexpr int NR = Tile<MR, NV>::NR;
  const detail::FloatWindow window(p);
  const int cout = static_cast<int>(p.cout / p.group), k = window.kh * window.kw * window.channels, panels = (cout + NR - 1) / NR;
  const auto [first, last] = share.slice(p.n * p.oh * p.ow, MR);
  for (int g = 0; g < static_cast<int>(p.group); ++g) {
    GridPoint point(first, p.oh, p.ow);
    for (Index pixel = first; pixel < last; pixel += MR) {
      const float* rows[MR];
      for (int i = 0; i < MR; ++i) {
        if (pixel + i >= last) {
          rows[i] = rows[i - 1];
          continue;
        }
        const int top = static_cast<int>(point.y * p.stride_y - p.pad_top), left = static_cast<int>(point.x * p.stride_x - p.pad_left);
        const float* const image = x + point.n * p.h * p.w * p.x_pixel + g * window.channels;
        if (window.is_run(top, left)) {
          rows[i] = image + (static_cast<std::ptrdiff_t>(top) * window.w + left) * window.pixel;
        } else {
          rows[i] = windows + i * k;
          detail::copy_window(window, windows + i * k, image, top, left);
        }
        point.advance();
      }
      for (int panel = 0; panel < panels; ++panel) {
        const int number = g * panels + panel, channel = panel * NR;
        const auto wp = panel_of(w, p.scales, number, k, NR);
        Tile<MR, NV> tile;
        tile.multiply(p.bias != nullptr ? p.bias + number * NR : kZeros, rows, k, wp, Prefetcher(address_of(wp)));
        tile.finish(y, p.y_pixel, g * cout + channel, last - pixel, cout - channel, Consecutive{pixel}, epi);
      }
    }
  }
}

}  // namespace onnxc::inline ONNXC_ISA
