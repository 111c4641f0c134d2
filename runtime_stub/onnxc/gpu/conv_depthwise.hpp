// Depthwise convolution of channels-last images: each channel has a kernel of its own.
//
//   conv_depthwise<3, 1>(gpu, y, x, w, {.n = 1, .h = 56, .w = 56, .cin = 144, .oh = 56, .ow = 56, .cout = 144, .kh = 3, .kw = 3,
//                                       .pad_top = 1, .pad_left = 1, .group = 144, .x_pixel = 144, .y_pixel = 144}, ...);
//
// As `conv` (conv.hpp), with cin = cout = group. x and w are f32, halves (summed in f32) or bytes (summed in i32, with `fill`
// outside of the image). Pixels of x begin at multiples of 16 bytes; weights are [kh * kw][row_of(cout)] (contract/gpu.hpp).
// kKw and kStride are p.kw and p.stride_x where p.dilation_x is 1, or both 0, which takes any.
//
// A thread has 16 bytes of channels of some outputs in a row, and reads each pixel under them once for a row of the kernel.
// Sums are in ascending order of taps.
#pragma once
#include "conv.hpp"
#include "exact_product.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {
namespace detail {

template <int kKw, int kStride, class Y, class A, class B, class Epilogue>
struct ConvDepthwise {
  static_assert(sizeof(A) == sizeof(B) && (kKw == 0) == (kStride == 0));
  static constexpr int kThreads = 128, kChannels = 16 / sizeof(A), kAcross = 32 / kChannels;
  struct Shared {};
  using Sum = typename ExactSum<A>::Type;
  using Sums = Sum[kAcross][kChannels];
  Y* y;
  const A* x;
  const B* w;
  ConvParams p;
  int64_t items, packs, spans;  // threads that have something to do; packs of channels, and spans of outputs of a row
  int64_t w_stride;
  Epilogue epilogue;

  ONNXC_DEVICE void operator()(Shared&) const {
    const int64_t item = static_cast<int64_t>(block().x) * kThreads + thread();
    if (item >= items) return;
    const int64_t line = item / packs, channel = (item - line * packs) * kChannels, row = line / spans, ox = (line - row * spans) * kAcross;
    const int64_t image = row / p.oh, oy = row - image * p.oh;
    const A* const from = x + image * p.h * p.w * p.x_pixel + channel;
    Sums sums = {};
    for (int64_t ky = 0; ky < p.kh; ++ky) {
      const int64_t iy = oy * p.stride_y - p.pad_top + ky * p.dilation_y;
      const bool inside = iy >= 0 && iy < p.h;
      if (!inside && p.fill == 0) continue;
      add_row(sums, from + (inside ? iy * p.w * p.x_pixel : 0), w + ky * p.kw * w_stride + channel, ox, inside);
    }
    const int64_t pixel = row * p.ow + ox;
    ONNXC_UNROLL_DEVICE
    for (int o = 0; o < kAcross; ++o) {
      if (ox + o < p.ow) finish(sums[o], pixel + o, channel);
    }
  }

 private:
  /// 16 bytes of pixel `ix` of a row, or what lies outside of the image.
  ONNXC_DEVICE Pack<A> pixel_of(const A* row, int64_t ix, bool inside) const {
    if (inside && ix >= 0 && ix < p.w) return load(row + ix * p.x_pixel);
    Pack<A> outside;
    ONNXC_UNROLL_DEVICE
    for (int c = 0; c < kChannels; ++c) outside.at[c] = static_cast<A>(static_cast<float>(p.fill));
    return outside;
  }
  static ONNXC_DEVICE void add(Sum (&to)[kChannels], const Pack<A>& a, const Pack<B>& b) {
    ONNXC_UNROLL_DEVICE
    for (int c = 0; c < kChannels; ++c) to[c] = multiply_add(static_cast<Sum>(a.at[c]), static_cast<Sum>(b.at[c]), to[c]);
  }

  ONNXC_DEVICE void add_row(Sums& sums, const A* row, const B* weights, int64_t ox, bool inside) const {
    const int64_t first = ox * p.stride_x - p.pad_left;
    if constexpr (kKw > 0) {
      Pack<B> taps[kKw];
      ONNXC_UNROLL_DEVICE
      for (int kx = 0; kx < kKw; ++kx) taps[kx] = load(weights + kx * w_stride);
      ONNXC_UNROLL_DEVICE
      for (int at = 0; at < (kAcross - 1) * kStride + kKw; ++at) {
        const Pack<A> pixel = pixel_of(row, first + at, inside);
        ONNXC_UNROLL_DEVICE
        for (int kx = 0; kx < kKw; ++kx) {
          if ((at - kx) % kStride == 0 && at >= kx && at - kx < kAcross * kStride) add(sums[(at - kx) / kStride], pixel, taps[kx]);
        }
      }
    } else {
      ONNXC_KEEP_LOOP
      for (int64_t kx = 0; kx < p.kw; ++kx) {
        const Pack<B> tap = load(weights + kx * w_stride);
        ONNXC_UNROLL_DEVICE
        for (int o = 0; o < kAcross; ++o) add(sums[o], pixel_of(row, first + o * p.stride_x + kx * p.dilation_x, inside), tap);
      }
    }
  }

  ONNXC_DEVICE void finish(const Sum (&sums)[kChannels], int64_t pixel, int64_t channel) const {
    const auto end = [&](int c) {
      return static_cast<Y>(epilogue(Scalar{}, sums[c], [&](const auto& form) { return *form.at(pixel, channel + c); }));
    };
    Y* const to = y + pixel * p.y_pixel + channel;
    if constexpr (sizeof(Y) == sizeof(A)) {
      if (channel + kChannels <= p.cout && reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {
        Pack<Y> out;
        ONNXC_UNROLL_DEVICE
        for (int c = 0; c < kChannels; ++c) out.at[c] = end(c);
        return store(to, out);
      }
    }
    ONNXC_UNROLL_DEVICE
    for (int c = 0; c < kChannels; ++c) {
      if (channel + c < p.cout) to[c] = end(c);
    }
  }
};

}  // namespace detail

template <int kKw = 0, int kStride = 0, class Y, class A, class B, class Epi = Epilogue<Keep>>
static void conv_depthwise(Queue& gpu, Y* y, const A* x, const B* w, const ConvParams& p, Epi epilogue = {}) noexcept {
  using Kernel = detail::ConvDepthwise<kKw, kStride, Y, A, B, Epi>;
  const int64_t packs = ceil_div(p.cout, Kernel::kChannels), spans = ceil_div(p.ow, Kernel::kAcross), items = packs * spans * p.oh * p.n;
  const int64_t blocks = ceil_div(items, Kernel::kThreads);
  if (blocks >= int64_t{1} << 31) return gpu.call([](Stream) { return Status{ONNXC_DEVICE_FAILED, "a convolution of too many pixels"}; });
  launch(gpu, Kernel{y, x, w, p, items, packs, spans, contract::gpu::row_of(p.cout, sizeof(B)), epilogue},
         {static_cast<int>(blocks), 1, 1});
}

}  // namespace onnxc::gpu
