// AffineGrid, as ONNX defines it (and PyTorch).
#pragma once
#include "../base.hpp"
#include "../fn.hpp"
#include "position.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

/// grid[n, p, r] = sum over c of theta[n, r, c] * point(p)[c] + theta[n, r, axes]. p runs over the pixels of an image,
/// and point(p) is its (x, y, z), from -1 to 1 over the image. With align_corners the corner pixels' centres are at -1
/// and 1, and the pixel of an axis of extent 1 is at 0. Computed in double. A share has some of the pixels.
template <class T>
ONNXC_ANYWHERE void affine_grid(Tensor<T> grid, const T* theta, bool align_corners, Share share = {}) {
  const int axes = grid.shape.rank - 2;
  Position pixel;
  pixel.shape.rank = axes;
  for (int k = 0; k < axes; ++k) pixel.shape[k] = grid.shape[1 + k];
  const int64_t pixels = pixel.shape.count();
  const auto [first, last] = share.slice(grid.shape[0] * pixels);
  if (first >= last) return;
  int64_t n = first / pixels, p = first % pixels;
  pixel.go_to(p);
  T* to = grid.data + first * axes;
  for (int64_t i = first; i < last; ++i, pixel.next()) {
    for (int r = 0; r < axes; ++r) {
      const T* row = theta + (n * axes + r) * (axes + 1);
      double sum = fn::cast<double>(row[axes]);
      for (int c = 0; c < axes; ++c) {
        const int k = axes - 1 - c;  // x is the last axis
        const double place = static_cast<double>(pixel[k]), extent = static_cast<double>(pixel.shape[k]);
        const double at = !align_corners ? (2 * place + 1) / extent - 1 : pixel.shape[k] > 1 ? 2 * place / (extent - 1) - 1 : 0;
        sum += fn::cast<double>(row[c]) * at;
      }
      *to++ = fn::cast<T>(sum);
    }
    if (++p < pixels) continue;
    p = 0;
    ++n;
  }
}

}  // namespace onnxc::scalar
