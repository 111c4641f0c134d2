// Max pooling of channels-last images of bytes.
//
//   max_pool_bytes<uint8_t>(share, x, y, {.h = 112, .w = 112, .c = 64, .oh = 56, .ow = 56, .kh = 3, .kw = 3, .stride_y = 2, .stride_x = 2,
//                                         .pad_top = 1, .pad_left = 1, .x_pixel = 64, .y_pixel = 64});
//
// Output sizes are given, so ceil_mode is the caller's. Pads never count, and a window without pixels gives the least value of T. Only c bytes of a
// pixel are touched: the last vector of a pixel begins so early that it ends with it, and computes some channels twice.
#pragma once
#include <limits>

#include "contract/window.hpp"
#include "passed.hpp"
#include "pool.hpp"

namespace onnxc::inline ONNXC_ISA {
namespace detail {

template <class T, int kBytes>
struct ByteLanes {
  typedef T Raw __attribute__((vector_size(kBytes)));
  typedef T Anywhere __attribute__((vector_size(kBytes), aligned(1), may_alias));
  static constexpr Index size = kBytes;

  static ONNXC_INLINE Raw all(T c) { return Raw{} + c; }
  static ONNXC_INLINE Raw load(const T* p) { return *reinterpret_cast<const Anywhere*>(p); }
  static ONNXC_INLINE void store(Raw x, T* p) { *reinterpret_cast<Anywhere*>(p) = x; }
  static ONNXC_INLINE Raw max(Raw a, Raw b) { return a > b ? a : b; }
};
template <class T>
struct ByteLanes<T, 1> {
  static constexpr Index size = 1;

  static ONNXC_INLINE T all(T c) { return c; }
  static ONNXC_INLINE T load(const T* p) { return *p; }
  static ONNXC_INLINE void store(T x, T* p) { *p = x; }
  static ONNXC_INLINE T max(T a, T b) { return a > b ? a : b; }
};

/// Taps within [0, extent). A window that lies inside takes no division.
ONNXC_INLINE TapSpan taps_inside(Index origin, Index taps, Index dilation, Index extent) {
  if (origin >= 0 && origin + (taps - 1) * dilation < extent) return {0, taps, 1, 0, taps};
  return {origin, taps, dilation, 0, extent};
}

/// One pixel of the output from `rows` by `columns` pixels at x, of at least V::size channels. kSide: both are this; 0: they may be any.
template <class V, int kSide, class T>
ONNXC_INLINE void max_of_window(const T* x, T* y, Index rows, Index columns, Index row_step, Index step, Index channels) {
  for (Index channel = 0; channel < channels;) {
    auto acc = V::all(std::numeric_limits<T>::lowest());
    if constexpr (kSide > 0) {
      ONNXC_UNROLL for (int ky = 0; ky < kSide; ++ky) {
        ONNXC_UNROLL for (int kx = 0; kx < kSide; ++kx) acc = V::max(acc, V::load(x + ky * row_step + kx * step + channel));
      }
    } else {
      for (Index ky = 0; ky < rows; ++ky) {
        const T* at = x + ky * row_step + channel;
        for (Index kx = 0; kx < columns; ++kx, at += step) acc = V::max(acc, V::load(at));
      }
    }
    V::store(acc, y + channel);
    if (channel + V::size >= channels) return;
    channel = channel + 2 * V::size <= channels ? channel + V::size : channels - V::size;
  }
}

}  // namespace detail

/// See the head of the file. x must not overlap y.
template <class T>
void max_pool_bytes(Share share, const T* x, T* y, Passed<PoolParams> p) {
  static_assert(sizeof(T) == 1);
  if (p.c == 0) return;
  const auto [begin, end] = share.slice(p.n * p.oh * p.ow);
  GridPoint point(begin, p.oh, p.ow);
  const Index step = p.dilation_x * p.x_pixel, row_step = p.dilation_y * p.w * p.x_pixel;
  for (Index row = begin; row < end; ++row, point.advance()) {
    const Index top = point.y * p.stride_y - p.pad_top, left = point.x * p.stride_x - p.pad_left;
    const TapSpan wy = detail::taps_inside(top, p.kh, p.dilation_y, p.h), wx = detail::taps_inside(left, p.kw, p.dilation_x, p.w);
    const T* const from = x + ((point.n * p.h + top + wy.first * p.dilation_y) * p.w + left + wx.first * p.dilation_x) * p.x_pixel;
    T* const to = y + row * p.y_pixel;
    const auto window = [&]<int kBytes>() ONNXC_INLINE_LAMBDA {
      using V = detail::ByteLanes<T, kBytes>;
      if (!ONNXC_LEAST_CODE && wy.count() == 3 && wx.count() == 3) detail::max_of_window<V, 3>(from, to, 3, 3, row_step, step, p.c);
      else if (!ONNXC_LEAST_CODE && wy.count() == 2 && wx.count() == 2) detail::max_of_window<V, 2>(from, to, 2, 2, row_step, step, p.c);
      else detail::max_of_window<V, 0>(from, to, wy.count(), wx.count(), row_step, step, p.c);
    };
    if constexpr (Vec::width == 1) {  // without vectors, one of bytes is worse than bytes
      window.template operator()<1>();
    } else {
      if (p.c >= 4 * Vec::width) window.template operator()<4 * Vec::width>();
      else if (p.c >= 16) window.template operator()<16>();
      else window.template operator()<1>();
    }
  }
}

}  // namespace onnxc::inline ONNXC_ISA
