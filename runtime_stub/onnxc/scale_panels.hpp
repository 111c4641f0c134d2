// Weights times a factor for each of their rows, before a product that reads them: squeeze-and-excite scales the channels of an image, and what one
// pixel after another would be multiplied with goes into the few weights of the 1x1 convolution that follows.
//
//   scale_panels<32>(part, w, s, scaled, 144, 1);
//
// w, scaled: [panels][k][NR], as GEMM reads b. s: k factors. Any alignment.
#pragma once
#include "vec.hpp"

namespace onnxc::inline ONNXC_ISA {

template <int NR>
void scale_panels(Part part, const float* w, const float* s, float* scaled, int64_t k, int64_t panels) {
  const auto [first, last] = part.slice(panels * k);
  for (int64_t row = first; row < last; ++row) {
    const Vec factor = Vec::all(s[row % k]);
    ONNXC_UNROLL for (int j = 0; j < NR; j += Vec::width) (Vec::load(w + row * NR + j) * factor).store(scaled + row * NR + j);
  }
}

}  // namespace onnxc
