// Resizing of channels-last images by tables made at compile time: nearest, linear, cubic and antialiased resizing are one kernel.
//
//   y[oy, ox, :] = sum over ty, tx of wy[oy][ty] * wx[ox][tx] * x[iy[oy][ty], ix[ox][tx], :]
//
// An axis of `size` outputs has `taps` sources for each: index[size * taps], and weight[size * taps] or null where taps is 1 (nearest: values are
// copied). The epilogue sees pixels by channels. Only c floats of a pixel are touched.
#pragma once
#include "tile.hpp"

namespace onnxc::inline ONNXC_ISA {

struct ResizeAxis {
  int64_t size;
  int taps;
  const int32_t* index;
  const float* weight;
};

struct ResizeParams {
  int64_t n = 1, h, w, c;
  int64_t x_pixel, y_pixel;
  ResizeAxis y, x;
};

template <class Epi = Epilogue<Keep>>
void resize(Part part, const float* x, float* y, ResizeParams p, Epi epi = {}) {
  const auto [first, last] = part.slice(p.n * p.y.size * p.x.size);
  const bool copy = p.y.weight == nullptr && p.x.weight == nullptr;
  for (int64_t row = first; row < last; ++row) {
    const int64_t ox = row % p.x.size, oy = row / p.x.size % p.y.size;
    const float* const image = x + row / p.x.size / p.y.size * p.h * p.w * p.x_pixel;
    const int32_t* const iy = p.y.index + oy * p.y.taps;
    const int32_t* const ix = p.x.index + ox * p.x.taps;
    for (int64_t channel = 0; channel < p.c; channel += Vec::width) {
      const int64_t lanes = p.c - channel < Vec::width ? p.c - channel : Vec::width;
      Vec acc = Vec::all(0.0f);
      for (int ty = 0; ty < p.y.taps; ++ty) {
        for (int tx = 0; tx < p.x.taps; ++tx) {
          const float* const pixel = image + (iy[ty] * p.w + ix[tx]) * p.x_pixel + channel;
          const Vec v = lanes == Vec::width ? Vec::load(pixel) : Vec::load(pixel, lanes);
          if (copy) {
            acc = v;
            continue;
          }
          const float wy = p.y.weight != nullptr ? p.y.weight[oy * p.y.taps + ty] : 1.0f, wx = p.x.weight != nullptr ? p.x.weight[ox * p.x.taps + tx] : 1.0f;
          acc = fma(v, Vec::all(wy * wx), acc);
        }
      }
      float* const out = y + row * p.y_pixel + channel;
      if (lanes == Vec::width) finish_vector(epi, acc, row, channel, out);
      else finish_vector(epi, acc, row, channel, out, lanes);
    }
  }
}

}  // namespace onnxc
