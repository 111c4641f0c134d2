// Convolution of channels-last images by multiply-adds in ascending order of taps and channels: for --math=strict, and for
// types, channels and alignments that `conv` does not take.
//
// As `conv` (conv.hpp), but pixels of x and groups of channels may begin anywhere, and w is [cout][kh * kw][cin / group]
// without gaps. Types are those of gemm_exact.hpp; f32 is the default. Outside of the image lie zeros, or `fill`.
#pragma once
#include "conv.hpp"
#include "exact_product.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {
namespace detail {

template <class T>
struct AnyWindows {
  using Element = T;
  const T* data;
  ConvParams p;
  int channels;
  T fill;
  struct Row {
    const T* image;
    int y, x;
  };
  ONNXC_DEVICE AnyWindows moved(int64_t elements) const {
    AnyWindows other = *this;
    other.data += elements;
    return other;
  }
  ONNXC_DEVICE Row row(int64_t i) const {
    const int64_t image = i / (p.oh * p.ow), at = i - image * (p.oh * p.ow), oy = at / p.ow, ox = at - oy * p.ow;
    return {data + image * (p.h * p.w) * p.x_pixel, static_cast<int>(oy * p.stride_y - p.pad_top),
            static_cast<int>(ox * p.stride_x - p.pad_left)};
  }
  ONNXC_DEVICE T value(const Row& row, int64_t k) const {
    const int at = static_cast<int>(k), tap = at / channels, kw = static_cast<int>(p.kw), ky = tap / kw;
    const int64_t y = row.y + ky * p.dilation_y, x = row.x + (tap - ky * kw) * p.dilation_x;
    if (y < 0 || y >= p.h || x < 0 || x >= p.w) return fill;
    return row.image[(y * p.w + x) * p.x_pixel + (at - tap * channels)];
  }
  ONNXC_DEVICE bool along_rows() const { return false; }
};

}  // namespace detail

template <class Y, class A, class B, class Epi = Epilogue<Keep>>
static void conv_exact(Queue& gpu, Y* y, const A* x, const B* w, const ConvParams& p, Epi epilogue = {}) noexcept {
  const int64_t channels = p.cin / p.group, out = p.cout / p.group, k = p.kh * p.kw * channels;
  const detail::ExactSizes size{.m = p.n * p.oh * p.ow,
                                .n = out,
                                .k = k,
                                .y_stride = p.y_pixel,
                                .inner = p.group,
                                .a_inner = channels,
                                .a_outer = 0,
                                .b_inner = out * k,
                                .b_outer = 0,
                                .y_inner = out,
                                .y_outer = 0,
                                .row_step = 0,
                                .col_step = out,
                                .row_tiles = 0,
                                .col_tiles = 0};
  using Kernel = detail::ExactProduct<detail::AnyWindows<A>, detail::AnyRows<B>, Y, Epi>;
  const detail::AnyWindows<A> left{x, p, static_cast<int>(channels), static_cast<A>(static_cast<float>(p.fill))};
  detail::launch_exact(gpu, Kernel{y, left, {w, k, 1}, size, 0, epilogue}, p.group);
}

}  // namespace onnxc::gpu
