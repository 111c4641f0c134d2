// Weights times a factor for each of their rows, before a product that reads them: squeeze-and-excite scales the channels of an image, and what one
// pixel after another would be multiplied with goes into the few weights of the 1x1 convolution that follows.
//
//   scale_panels<32>(part, w, s, scaled, 144, 1);
//
// w, scaled: [panels][k][NR], as GEMM reads b; where NR is no whole number of vectors, the last holds pairs (tile.hpp), and k is even. s: k factors. Any alignment.
#pragma once
#include "vec.hpp"

namespace onnxc::inline ONNXC_ISA {

template <int NR>
void scale_panels(Part part, const float* w, const float* s, float* scaled, int64_t k, int64_t panels) {
  constexpr int kWhole = NR / Vec::width * Vec::width;
  constexpr bool kPairs = NR != kWhole;
  const auto scale = [](const float* from, float* to, Vec factor) { (Vec::load(from) * factor).store(to); };
  const auto [first, last] = part.slice(panels * k, kPairs ? 2 : 1);
  for (int64_t row = first; row < last; row += kPairs ? 2 : 1) {
    const float *const from = w + row * NR, *const factors = s + row % k;
    float* const to = scaled + row * NR;
    ONNXC_UNROLL for (int j = 0; j < kWhole; j += Vec::width) {
      scale(from + j, to + j, Vec::all(factors[0]));
      if constexpr (kPairs) scale(from + kWhole + j, to + kWhole + j, Vec::all(factors[1]));
    }
    if constexpr (kPairs) scale(from + 2 * kWhole, to + 2 * kWhole, pairs(factors));
  }
}

}  // namespace onnxc
