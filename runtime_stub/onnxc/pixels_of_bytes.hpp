// An image of up to four channels of bytes, from planes, as ONNX has it, to pixels of four bytes, as convolutions read it (conv_quads.hpp).
//
//   pixels_of_bytes(share, x, y, {.batch = n, .channels = 3, .pixels = h * w});
//
//   plane 0   a0 b0 c0 ...
//   plane 1   a1 b1 c1 ...      a0 a1 a2 0   b0 b1 b2 0   c0 c1 c2 0   ...
//   plane 2   a2 b2 c2 ...
#pragma once
#include "interleaved_rows.hpp"

namespace onnxc::inline ONNXC_ISA {

struct PixelsOfBytesParams {
  int64_t batch = 1, channels, pixels;  // channels: 1 to 4
};

/// y[b][i][c] = x[b][c][i], and 0 for the bytes of a pixel that are no channel. T: a type of one byte. x must not overlap y.
template <class T>
void pixels_of_bytes(Share share, const T* x, T* y, PixelsOfBytesParams p) {
  static_assert(sizeof(T) == 1);
  constexpr int64_t kPixels = 4 * Vec::width;
  const int64_t blocks = (p.pixels + kPixels - 1) / kPixels;
  const auto [begin, end] = share.slice(p.batch * blocks);
  for (int64_t block = begin; block < end; ++block) {
    const int64_t image = block / blocks, pixel = block % blocks * kPixels, count = p.pixels - pixel < kPixels ? p.pixels - pixel : kPixels;
    const auto* const from = reinterpret_cast<const uint8_t*>(x) + image * p.channels * p.pixels + pixel;
    auto* const to = reinterpret_cast<uint8_t*>(y) + 4 * (image * p.pixels + pixel);
    if (count == kPixels) {
      IntVec rows[4];
      ONNXC_UNROLL for (int64_t c = 0; c < 4; ++c) rows[c] = c < p.channels ? detail::load_bytes(from + c * p.pixels) : IntVec::all(0);
      detail::interleave_rows(rows, false, [&](int64_t quarter, IntVec quads) ONNXC_INLINE_LAMBDA {
        store(Whole<int32_t>{quads}, reinterpret_cast<int32_t*>(to + quarter * kPixels));
      });
      continue;
    }
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t c = 0; c < 4; ++c) to[4 * i + c] = c < p.channels ? from[c * p.pixels + i] : uint8_t{0};
    }
  }
}

}  // namespace onnxc::inline ONNXC_ISA
