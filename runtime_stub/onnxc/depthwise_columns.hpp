// Depthwise convolution of channels-last images of bytes on cores without wide vectors: each channel has its own kernel. Sums of 32 bits
// are exact.
//
//   depthwise_columns<PlainColumns>(share, x, w, y, scratch, {.h = 25, .w = 5, .cin = 64, .oh = 25, .ow = 5, .cout = 64, .kh = 3, .kw = 3, .pad_top = 1,
//                                                             .pad_left = 1, .x_pixel = 64, .y_pixel = 64, .start = w_start}, Epilogue<Requantise>{});
//
// Where the taps of a window lie is the same for all windows, relative to their first pixel: a table says it. At the border a second table
// has the place of a pixel of `outside` for taps outside of the image. Both tables and that pixel lie in `scratch`. So the inner loop knows
// no borders.
//
// Columns is the machine, as in conv_columns.hpp. Columns::taps sums up the taps of some channels of one output, kForm.channels of which
// are a panel. w packed: [ceil(c / channels)][kh * kw][channels] in the order that Columns states, with zeros beyond
// (pack::depthwise_columns). start: as many as panels have.
#pragma once
#include "column_window.hpp"
#include "finish_sums.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {

/// Where taps lie, relative to the first pixel of a window.
struct TapOffsets {
  std::ptrdiff_t *inner, *border;
  uint8_t* outside;  ///< a pixel

  /// At the window whose first pixel is (y, x) of the image; `first`: where it lies, or would lie.
  ONNXC_INLINE const std::ptrdiff_t* at(const ColumnWindow& window, int32_t y, int32_t x, const uint8_t* first) const {
    const bool inside =
        y >= 0 && x >= 0 && y + (window.kh - 1) * window.dilation_y < window.h && x + (window.kw - 1) * window.dilation_x < window.w;
    if (!inside) write_border(window, y, x, first);
    return inside ? inner : border;
  }
  void write_inner(const ColumnWindow& window) const {
    std::ptrdiff_t* to = inner;
    for (int32_t ky = 0; ky < window.kh; ++ky) {
      for (int32_t kx = 0; kx < window.kw; ++kx)
        *to++ = (static_cast<std::ptrdiff_t>(ky * window.dilation_y) * window.w + kx * window.dilation_x) * window.pixel;
    }
  }

 private:
  __attribute__((noinline)) void write_border(const ColumnWindow& window, int32_t y, int32_t x, const uint8_t* first) const {
    const auto beyond = static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(outside) - reinterpret_cast<std::uintptr_t>(first));
    int32_t tap = 0;
    for (int32_t ky = 0; ky < window.kh; ++ky, y += window.dilation_y) {
      for (int32_t kx = 0, ix = x; kx < window.kw; ++kx, ix += window.dilation_x, ++tap) {
        const bool there = y >= 0 && y < window.h && ix >= 0 && ix < window.w;
        border[tap] = there ? inner[tap] : beyond;
      }
    }
  }
};

}  // namespace detail

/// See the head of the file. x must not overlap y; operands of the epilogue may be y itself. scratch: contract::depthwise_columns_scratch
/// bytes of this share, aligned as a pointer.
template <class Columns, class Y, class Epi = Epilogue<Keep>>
ONNXC_NOCLONE void depthwise_columns(Share share, const uint8_t* x, const int8_t* w, Y* y, uint8_t* scratch, const ColumnConvParams& p,
                                     Epi epi = {}) {
  constexpr int32_t kBlock = 32;  // channels whose sums lie on the stack
  const detail::ColumnWindow window(p);
  const int32_t c = p.cout, taps = window.kh * window.kw;
  const detail::TapOffsets offsets{reinterpret_cast<std::ptrdiff_t*>(scratch), reinterpret_cast<std::ptrdiff_t*>(scratch) + taps,
                                   scratch + 2 * taps * static_cast<int32_t>(sizeof(std::ptrdiff_t))};
  offsets.write_inner(window);
  for (int32_t i = 0; i < c; ++i) offsets.outside[i] = static_cast<uint8_t>(p.outside.value);
  const auto [begin, end] = detail::pixels_of(share, p, 1);
  detail::PixelWalk point(begin, p.oh, p.ow);
  for (int32_t pixel = begin; pixel < end; ++pixel, point.advance()) {
    const int32_t top = point.y * p.stride_y - p.pad_top, left = point.x * p.stride_x - p.pad_left;
    const uint8_t* const first = x + ((static_cast<std::ptrdiff_t>(point.n) * window.h + top) * window.w + left) * window.pixel;
    const std::ptrdiff_t* const at = offsets.at(window, top, left, first);
    for (int32_t channel = 0; channel < c; channel += kBlock) {
      const int32_t channels = c - channel < kBlock ? c - channel : kBlock;
      int32_t sums[kBlock];
      Columns::taps(first + channel, at, taps, w + channel * taps * static_cast<int32_t>(sizeof(typename Columns::Tap)), p.start + channel,
                    channels, sums);
      detail::finish_row(epi, sums, channels, pixel, channel, y + static_cast<std::ptrdiff_t>(pixel) * p.y_pixel + channel);
    }
  }
}

}  // namespace onnxc::inline ONNXC_ISA
