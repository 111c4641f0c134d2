// Max pooling of channels-last images of bytes.
//
//   onnxc::gpu::max_pool_bytes(gpu, x, y, {.n = 1, .h = 112, .w = 112, .c = 64, .oh = 56, .ow = 56, .kh = 3, .kw = 3, .stride_y = 2,
//                                          .stride_x = 2, .pad_top = 1, .pad_left = 1, .x_pixel = 64, .y_pixel = 64});
//
// Pads never count, and a window without pixels gives the least value of the type. Only p.c bytes of a pixel of y are written.
//
// A thread has four channels of an output pixel, which it reads as a word and compares as one, or one channel where pixels do not begin at
// words. Positions take 32 bits where they fit. A tap outside of the image is found by a comparison, which costs less than the divisions
// that would tell how many lie inside.
#pragma once
#include <limits>

#include "pool.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {
namespace detail {

/// Four bytes in a word, in an order in which bits compare as unsigned integers: of signed ones the sign is flipped.
template <class T>
struct BytesInWord {
  using Word = uint32_t;
  static constexpr int kBytes = 4;
  static constexpr uint32_t kTops = 0x80808080, kFlipped = std::is_signed_v<T> ? kTops : 0;

  static ONNXC_BOTH Word load(const T* p) { return *reinterpret_cast<const Word*>(p) ^ kFlipped; }
  static ONNXC_BOTH Word least() { return 0; }
  /// Lower bits are compared by a subtraction that borrows from the top bit of its own byte alone.
  static ONNXC_BOTH Word largest(Word a, Word b) {
    const uint32_t lower = (a | kTops) - (b & ~kTops), differ = a ^ b;
    const uint32_t tops = ((a & differ) | (lower & ~differ)) & kTops, bytes = (tops >> 7) * 0xff;  // where a is not less
    return (a & bytes) | (b & ~bytes);
  }
  static ONNXC_BOTH void store(Word v, T* p, int64_t valid) {
    v ^= kFlipped;
    if (valid >= kBytes) {
      *reinterpret_cast<Word*>(p) = v;
      return;
    }
    for (int i = 0; i < valid; ++i) p[i] = static_cast<T>(v >> 8 * i);
  }
};
template <class T>
struct OneByte {
  using Word = T;
  static constexpr int kBytes = 1;

  static ONNXC_BOTH Word load(const T* p) { return *p; }
  static ONNXC_BOTH Word least() { return std::numeric_limits<T>::lowest(); }
  static ONNXC_BOTH Word largest(Word a, Word b) { return a > b ? a : b; }
  static ONNXC_BOTH void store(Word v, T* p, int64_t) { *p = v; }
};

}  // namespace detail

template <class T, class Bytes, class Count>
struct MaxPoolBytes {
  static constexpr int kThreads = 256;
  struct Shared {};
  const T* x;
  T* y;
  PoolParams p;
  Count items;
  FastDivide words, columns, rows;

  ONNXC_DEVICE void operator()(Shared&) const {
    const Count step = static_cast<Count>(blocks().x) * kThreads;
    for (Count i = static_cast<Count>(block().x) * kThreads + thread(); i < items; i += step) compute(i);
  }

 private:
  ONNXC_DEVICE void compute(Count i) const {
    const auto of = [](int64_t member) { return static_cast<Count>(member); };
    const Count pixel = words.in(i), line = columns.in(pixel), image = rows.in(line);
    const Count channel = (i - pixel * of(words.divisor())) * Bytes::kBytes;
    const Count top = (line - image * of(rows.divisor())) * of(p.stride_y) - of(p.pad_top),
                left = (pixel - line * of(columns.divisor())) * of(p.stride_x) - of(p.pad_left);
    const T* const plane = x + image * of(p.h) * of(p.w) * of(p.x_pixel) + channel;
    auto best = Bytes::least();
    for (Count ky = 0; ky < of(p.kh); ++ky) {
      const Count iy = top + ky * of(p.dilation_y);
      if (iy < 0 || iy >= of(p.h)) continue;
      const T* const row = plane + iy * of(p.w) * of(p.x_pixel);
      for (Count kx = 0; kx < of(p.kw); ++kx) {
        const Count ix = left + kx * of(p.dilation_x);
        if (ix >= 0 && ix < of(p.w)) best = Bytes::largest(best, Bytes::load(row + ix * of(p.x_pixel)));
      }
    }
    Bytes::store(best, y + pixel * of(p.y_pixel) + channel, p.c - channel);
  }
};

namespace detail {

template <class Bytes, class Count, class T>
static void launch_max_pool(Queue& gpu, const T* x, T* y, const PoolParams& p) noexcept {
  using Kernel = MaxPoolBytes<T, Bytes, Count>;
  const int64_t words = ceil_div(p.c, Bytes::kBytes), items = p.n * p.oh * p.ow * words;
  if (items <= 0) return;
  launch(gpu, Kernel{x, y, p, static_cast<Count>(items), FastDivide(words), FastDivide(p.ow), FastDivide(p.oh)},
         grid_for(items, Kernel::kThreads));
}

}  // namespace detail

/// See the head of the file. x does not overlap y.
template <class T>
static void max_pool_bytes(Queue& gpu, const T* x, T* y, PoolParams p) noexcept {
  static_assert(sizeof(T) == 1);
  constexpr int64_t kMost = int64_t{1} << 30;  // so that neither a step to a next item nor a window's end leaves 32 bits
  const auto span = [](int64_t taps, int64_t dilation, int64_t pad, int64_t extent) { return taps * dilation + pad + extent; };
  const bool is_short = p.n * p.h * p.w * p.x_pixel <= kMost && p.n * p.oh * p.ow * p.y_pixel <= kMost &&
                        span(p.kh, p.dilation_y, p.pad_top, p.oh * p.stride_y) <= kMost &&
                        span(p.kw, p.dilation_x, p.pad_left, p.ow * p.stride_x) <= kMost;
  const bool by_words = p.x_pixel % 4 == 0 && p.y_pixel % 4 == 0 && reinterpret_cast<std::uintptr_t>(x) % 4 == 0 &&
                        reinterpret_cast<std::uintptr_t>(y) % 4 == 0;
  if (!is_short) detail::launch_max_pool<detail::OneByte<T>, int64_t>(gpu, x, y, p);
  else if (by_words) detail::launch_max_pool<detail::BytesInWord<T>, int32_t>(gpu, x, y, p);
  else detail::launch_max_pool<detail::OneByte<T>, int32_t>(gpu, x, y, p);
}

}  // namespace onnxc::gpu
