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
  const ConvParams& p;
  int channels;

  ONNXC_INLINE explicit FloatWindow(const ConvParams& params) : p(params), channels(static_cast<int>(params.cin / params.group)) {}
  int w() const { return static_cast<int>(p.w); }
  int h() const { return static_cast<int>(p.h); }
  int kw() const { return static_cast<int>(p.kw); }
  int kh() const { return static_cast<int>(p.kh); }
  int pixel() const { return static_cast<int>(p.x_pixel); }
  int floats() const { return kh() * kw() * channels; }
  /// Whether neighbours in a row of the window are one run of floats.
  bool joined() const { return pixel() == channels && p.dilation_x == 1; }
  /// Whether the window whose first tap is at (y, x) is one run, inside of the image.
  bool is_run(int y, int x) const { return kh() == 1 && (kw() == 1 || joined()) && y >= 0 && y < h() && x >= 0 && x + kw() <= w(); }
};

/// Writes n zeros. Returns the end.
ONNXC_INLINE float* write_zeros(float* to, int n) {
  for (; n > 0; --n) *to++ = 0.0f;
  return to;
}

/// Writes the window whose first tap is at (y, x) of `image`.
ONNXC_NOCLONE inline void copy_window(const FloatWindow& s, float* to, const float* image, int y, int x) {
  const int w = s.w(), kw = s.kw(), pixel = s.pixel(), down = static_cast<int>(s.p.dilation_y), across = static_cast<int>(s.p.dilation_x);
  const bool joined = s.joined();
  for (int ky = s.kh(); ky > 0; --ky, y += down) {
    const float* const row = image + static_cast<std::ptrdiff_t>(y) * w * pixel;
    const bool inside = y >= 0 && y < s.h();
    if (!inside) {
      to = write_zeros(to, kw * s.channels);
    } else if (joined) {
      const int left = x < 0 ? -x < kw ? -x : kw : 0, right = x + kw > w ? w - x > left ? w - x : left : kw;
      to = write_zeros(to, left * pixel);
      to = copy_floats(to, row + (x + left) * pixel, (right - left) * pixel);
      to = write_zeros(to, (kw - right) * pixel);
    } else {
      for (int kx = 0, ix = x; kx < kw; ++kx, ix += across)
        to = ix >= 0 && ix < w ? copy_floats(to, row + ix * pixel, s.channels) : write_zeros(to, s.channels);
    }
  }
}

/// The windows of MR outputs at a time, in the channels of one group: all that does not depend on the epilogue, so that a unit has it once.
template <int MR>
class WindowRows {
 public:
  const float* rows[MR];  ///< of the outputs that load() has moved to; surplus ones repeat the last

  ONNXC_INLINE WindowRows(const float* x, float* windows, const ConvParams& p, int group, Index first, Index last)
      : window_(p),
        k_(window_.floats()),
        image_(x + group * window_.channels),
        windows_(windows),
        point_(first, p.oh, p.ow),
        left_(last - first) {}

  /// Floats of a window.
  int size() const { return k_; }

  /// Moves to the next outputs.
  ONNXC_NOCLONE void load() {
    const ConvParams& p = window_.p;
    for (int i = 0; i < MR; ++i) {
      if (left_ <= 0) {
        rows[i] = rows[i - 1];
        continue;
      }
      --left_;
      const int top = static_cast<int>(point_.y * p.stride_y - p.pad_top), left = static_cast<int>(point_.x * p.stride_x - p.pad_left);
      const std::ptrdiff_t pitch = static_cast<std::ptrdiff_t>(window_.w()) * window_.pixel();
      const float* const image = image_ + static_cast<std::ptrdiff_t>(point_.n) * window_.h() * pitch;
      if (window_.is_run(top, left)) {
        rows[i] = image + top * pitch + left * window_.pixel();
      } else {
        rows[i] = windows_ + i * k_;
        copy_window(window_, windows_ + i * k_, image, top, left);
      }
      point_.advance();
    }
  }

 private:
  FloatWindow window_;
  int k_;
  const float* image_;
  float* windows_;
  GridPoint point_;
  Index left_;  ///< outputs beyond those
};

/// tiles[t] = bias + the products of k steps of rows [t * MR, (t + 1) * MR) and a panel of narrow weights, which are widened some steps at a time.
template <int MR, int NV, class Row>
ONNXC_NOCLONE void multiply_widened(Tile<MR, NV>* tiles, int count, const float* bias, const float* const* rows, int k, Row panel) {
  constexpr int NR = Tile<MR, NV>::NR, kSteps = 16;
  float widened[kSteps * NR];
  for (int t = 0; t < count; ++t) tiles[t].start(bias);
  for (int step = 0; step < k; step += kSteps, panel += kSteps * NR) {
    const int steps = k - step < kSteps ? k - step : kSteps;
    for (int i = 0; i < steps * NR; i += NR) {
      ONNXC_UNROLL for (int j = 0; j < NR; j += Vec::width) load(panel + i, j).store(widened + i + j);
    }
    for (int t = 0; t < count; ++t) {
      const float* at[MR];
      for (int i = 0; i < MR; ++i) at[i] = rows[t * MR + i] + step;
      const float* const weights = widened;
      tiles[t].add(at, steps, weights, Prefetcher(weights));
    }
  }
}

}  // namespace detail

/// See the head of the file. x must not overlap y; operands of the epilogue may be y itself.
template <int MR, int NV, class T, class Epi = Epilogue<Keep>>
void conv_windows(Share share, const float* x, const T* w, float* y, float* windows, Passed<ConvParams> p, Epi epi = {}) {
  constexpr int NR = Tile<MR, NV>::NR, kTiles = static_cast<int>(contract::tiles_at_once(Vec::width, std::is_same_v<T, float>)),
                kRows = MR * kTiles;
  const int cout = static_cast<int>(p.cout / p.group), panels = (cout + NR - 1) / NR;
  const auto [first, last] = share.slice(p.n * p.oh * p.ow, kRows);
  for (int g = 0; g < static_cast<int>(p.group); ++g) {
    detail::WindowRows<kRows> window(x, windows, p, g, first, last);
    for (Index pixel = first; pixel < last; pixel += kRows) {
      window.load();
      int number = g * panels;
      for (int channel = 0; channel < cout; channel += NR, ++number) {
        const auto wp = panel_of(w, p.scales, number, window.size(), NR);
        const float* const bias = p.bias != nullptr ? p.bias + number * NR : kZeros;
        Tile<MR, NV> tiles[kTiles];
        if constexpr (kTiles > 1) detail::multiply_widened(tiles, kTiles, bias, window.rows, window.size(), wp);
        else tiles[0].multiply(bias, window.rows, window.size(), wp, Prefetcher(address_of(wp)));
        for (int t = 0; t < kTiles && pixel + t * MR < last; ++t)
          tiles[t].finish(y, p.y_pixel, g * cout + channel, last - pixel - t * MR, cout - channel, Consecutive{pixel + t * MR}, epi);
      }
    }
  }
}

}  // namespace onnxc::inline ONNXC_ISA
