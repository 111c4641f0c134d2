// Windows over channels-last images of bytes, and how one becomes a column: see conv_columns.hpp.
#pragma once
#include <type_traits>
#include <utility>

#include "base.hpp"
#include "contract/columns.hpp"
#include "contract/window.hpp"

namespace onnxc::inline ONNXC_ISA {

/// An extent on a machine with little memory: half of the instructions and of the stack of one of 64 bits.
struct SmallExtent {
  int32_t value;
  ONNXC_INLINE constexpr SmallExtent(int64_t extent) : value(static_cast<int32_t>(extent)) {}
  ONNXC_INLINE constexpr operator int32_t() const { return value; }
};

struct ColumnConvParams {
  SmallExtent n = 1, h = 1, w = 1, cin = 1;  // input
  SmallExtent oh = 1, ow = 1, cout = 1;      // output
  SmallExtent kh = 1, kw = 1, stride_y = 1, stride_x = 1, dilation_y = 1, dilation_x = 1, pad_top = 0, pad_left = 0, group = 1;
  SmallExtent x_pixel = 0, y_pixel = 0;  // elements from one pixel to the next
  const int32_t* start = nullptr;
  SmallExtent outside = 0;  // the value of pixels outside of the image
};
static_assert(contract::has_usual_window(ColumnConvParams{}) && ColumnConvParams{}.group == contract::kUsualGroup);

namespace detail {

/// The outputs of a share: from `first` to before `second`, in multiples of `grain`. Share::slice would divide numbers of 64 bits.
__attribute__((noinline)) inline std::pair<int32_t, int32_t> pixels_of(Share share, const ColumnConvParams& p, int32_t grain) {
  const int32_t all = p.n * p.oh * p.ow;
  if constexpr (std::is_empty_v<Share>) return {0, all};
  const int32_t grains = (all + grain - 1) / grain, each = grains / share.count, more = grains % share.count;
  const auto begin = [&](int32_t index) {
    const int32_t first = (index * each + (index < more ? index : more)) * grain;
    return first < all ? first : all;
  };
  return {begin(share.index), begin(share.index + 1)};
}

/// The pixels of images of oh by ow, one behind the other.
struct PixelWalk {
  int32_t oh, ow, n, y, x;

  PixelWalk(int32_t first, int32_t rows, int32_t columns)
      : oh(rows), ow(columns), n(first / columns / rows), y(first / columns % rows), x(first % columns) {}
  void advance() {
    if (++x < ow) return;
    x = 0;
    if (++y < oh) return;
    y = 0;
    ++n;
  }
};

/// Windows over an image, in numbers of the machine's size: a column has fewer than 2^31 steps.
struct ColumnWindow {
  int32_t h, w, pixel, kh, kw, dilation_y, dilation_x;
  int32_t run;  ///< bytes of one of its runs
  bool joined;
  uint8_t outside[4];

  explicit ColumnWindow(const ColumnConvParams& p)
      : h(p.h),
        w(p.w),
        pixel(p.x_pixel),
        kh(p.kh),
        kw(p.kw),
        dilation_y(p.dilation_y),
        dilation_x(p.dilation_x),
        joined(p.group == 1 && p.x_pixel == p.cin && p.dilation_x == 1) {
    run = static_cast<int32_t>(contract::window_runs(p.kh, p.kw, p.cin / p.group, joined).bytes);
    for (uint8_t& byte : outside) byte = static_cast<uint8_t>(p.outside.value);
  }

  int32_t runs() const { return joined ? kh : kh * kw; }

  /// Whether the window is one run, and lies in the image.
  bool is_one_run(int32_t y, int32_t x) const { return runs() == 1 && y >= 0 && y < h && x >= 0 && x + kw <= w; }
};

/// Writes the window whose first pixel is (y, x) of `image` as a column. `image`: its first pixel, from the channels of the group on.
template <class Columns>
__attribute__((noinline)) void write_column(const ColumnWindow& window, uint8_t* column, const uint8_t* image, int32_t y, int32_t x) {
  constexpr auto kUnit = static_cast<int32_t>(Columns::kForm.unit);
  const int32_t pitch = (window.run + kUnit - 1) / kUnit * kUnit;
  for (int32_t ky = 0, at = 0; ky < window.kh; ++ky, y += window.dilation_y) {
    const bool inside = y >= 0 && y < window.h;
    const uint8_t* const row = image + static_cast<std::ptrdiff_t>(y) * window.w * window.pixel;
    if (window.joined) {
      const int32_t left = x < 0 ? -x : 0,
                    right = x + window.kw > window.w ? window.w - x : window.kw;  // taps [left, right) are in the image
      const int32_t begin = inside && left < right ? left * window.pixel : window.run,
                    end = inside && left < right ? right * window.pixel : window.run;
      if (begin > 0) Columns::put(column, at, window.outside, begin, false);
      if (end > begin) Columns::put(column, at + begin, row + x * window.pixel + begin, end - begin, true);
      if (window.run > end) Columns::put(column, at + end, window.outside, window.run - end, false);
      at += pitch;
    } else {
      for (int32_t kx = 0, ix = x; kx < window.kw; ++kx, ix += window.dilation_x, at += pitch) {
        const bool there = inside && ix >= 0 && ix < window.w;
        Columns::put(column, at, there ? row + static_cast<std::ptrdiff_t>(ix) * window.pixel : window.outside, window.run, there);
      }
    }
  }
}

}  // namespace detail

}  // namespace onnxc::inline ONNXC_ISA
