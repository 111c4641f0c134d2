// Convolutions of channels-last images in double.
#pragma once
#include "tests/kernels/gpu/product_cases.hpp"

namespace onnxc::test {

/// Of an output: the sum, and that of the magnitudes. Outside of the image lies `fill`. x has rows of pixels of p.x_pixel
/// elements, w is [cout][kh * kw][cin / group].
struct ConvSum {
  double sum = 0, size = 0;
};
template <class Params, class A, class B>
ConvSum conv_sum(const Params& p, const std::vector<A>& x, const std::vector<B>& w, int64_t pixel, int64_t co, double fill) {
  const int64_t image = pixel / (p.oh * p.ow), oy = pixel / p.ow % p.oh, ox = pixel % p.ow;
  const int64_t group_in = p.cin / p.group, group = co / (p.cout / p.group);
  ConvSum all;
  for (int64_t ky = 0; ky < p.kh; ++ky) {
    for (int64_t kx = 0; kx < p.kw; ++kx) {
      const int64_t iy = oy * p.stride_y - p.pad_top + ky * p.dilation_y, ix = ox * p.stride_x - p.pad_left + kx * p.dilation_x;
      const bool inside = iy >= 0 && iy < p.h && ix >= 0 && ix < p.w;
      for (int64_t ci = 0; ci < group_in; ++ci) {
        const double a =
            inside ? value_of(x[static_cast<std::size_t>(((image * p.h + iy) * p.w + ix) * p.x_pixel + group * group_in + ci)]) : fill;
        const double product = a * value_of(w[static_cast<std::size_t>(((co * p.kh + ky) * p.kw + kx) * group_in + ci)]);
        all.sum += product;
        all.size += std::abs(product);
      }
    }
  }
  return all;
}

}  // namespace onnxc::test
