// gemm of images whose channels are scaled first, as in squeeze-and-excite. The factors go into the few weights of the
// 1x1 convolution that follows, and not into each pixel.
//
//   gemm_scaled<8, 3>(share, x, w, s, y, scaled, {.m = 196, .n = 40, .k = 240, .lda = 240, .ldc = 40, .bias = w_bias}, 196,
//                     Epilogue<Relu>{});
//
//   y[i, j] = epilogue(bias[j] + x[i, :] (s[i / pixels, :] w[:, j]))
//
//   w       as gemm packs it
//   s       [images, k], any alignment
//   scaled  the panels of w for one image, contract::gemm_scaled_scratch floats of this share: each share scales all of
//           them, which takes less
//           time than to fetch from another core what that has scaled
#pragma once
#include "gemm.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {

/// Multiplies row r of each of the panels [panels][k][NR] by s[r]. Where NR is no whole number of vectors, the last
/// vector holds pairs (tile.hpp), and k is even.
template <int NR>
ONNXC_NOCLONE void scale_panels(const float* w, const float* s, float* scaled, int64_t k, int64_t panels) {
  constexpr int kWhole = NR / Vec::width * Vec::width;
  constexpr bool kPairs = NR != kWhole;
  const auto scale = [](const float* from, float* to, Vec factor) { (Vec::load(from) * factor).store(to); };
  for (int64_t row = 0; row < panels * k; row += kPairs ? 2 : 1) {
    const float *const from = w + row * NR, *const factors = s + row % k;
    float* const to = scaled + row * NR;
    ONNXC_UNROLL for (int j = 0; j < kWhole; j += Vec::width) {
      scale(from + j, to + j, Vec::all(factors[0]));
      if constexpr (kPairs) scale(from + kWhole + j, to + kWhole + j, Vec::all(factors[1]));
    }
    if constexpr (kPairs) scale(from + 2 * kWhole, to + 2 * kWhole, pairs(factors));
  }
}

}  // namespace detail

/// See the head of the file. p.m: rows of all images; `pixels`: rows of one image.
template <int MR, int NV, bool kPairs = false, class Epi = Epilogue<Keep>>
void gemm_scaled(Share share, const float* x, const float* w, const float* s, float* y, float* scaled, GemmParams p, int64_t pixels,
                 Epi epi = {}) {
  constexpr int NR = Tile<MR, NV, kPairs>::NR;
  const int64_t panels = (p.n + NR - 1) / NR, block = detail::block_rows(p.k, MR);
  const auto [first, last] = share.slice(p.m, MR);
  const TileOrder order(share, p.m * p.n);
  for (int64_t row = first; row < last;) {
    const int64_t image = row / pixels, end = (image + 1) * pixels < last ? (image + 1) * pixels : last;
    detail::scale_panels<NR>(w, s + image * p.k, scaled, p.k, panels);
    detail::for_each_block({row, end}, block, [&](int64_t first_row, int64_t rows) ONNXC_INLINE_LAMBDA {
      detail::gemm_block<MR, NV, kPairs>(first_row, rows, 0, panels, x + first_row * p.lda, scaled, y, static_cast<float*>(nullptr), p,
                                         order, epi);
    });
    row = end;
  }
}

}  // namespace onnxc
