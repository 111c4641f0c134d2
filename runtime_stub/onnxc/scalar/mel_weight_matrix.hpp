// MelWeightMatrix, as ONNX defines it.
#pragma once
#include <cmath>

#include "../base.hpp"
#include "../fn.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

/// y[bin, band]: triangles over the bins of a spectrum, whose corners are evenly spaced on the mel scale, 2595
/// log10(1 + hertz / 700), between the two edges. Corner c is at bin floor((dft_length + 1) * hertz(c) / sample_rate);
/// a triangle rises to 1 at its middle corner. Computed in double. A corner that is no bin of y gives
/// ONNXC_INDEX_OUT_OF_RANGE. A share has some of the bands.
template <class T, class I, class F>
ONNXC_ANYWHERE Status mel_weight_matrix(Tensor<T> y, const I* dft_length, const I* sample_rate, const F* lower_edge, const F* upper_edge,
                                        Share share = {}) {
  const int64_t bins = y.shape[0], bands = y.shape[1];
  const auto mel = [](double hertz) { return 2595 * std::log1p(hertz / 700) / 2.302585092994045684; };
  const double low = mel(fn::cast<double>(*lower_edge)), step = (mel(fn::cast<double>(*upper_edge)) - low) / static_cast<double>(bands + 2);
  const double per_hertz = (static_cast<double>(*dft_length) + 1) / static_cast<double>(*sample_rate);
  bool good = true;
  const auto corner = [&](int64_t c) -> int64_t {
    const double hertz = 700 * std::expm1((low + static_cast<double>(c) * step) / 2595 * 2.302585092994045684);
    const double bin = std::floor(hertz * per_hertz);
    if (bin >= 0 && bin <= static_cast<double>(bins)) return static_cast<int64_t>(bin);
    good = false;
    return 0;
  };
  const auto [first, last] = share.slice(bands);
  for (int64_t bin = 0; bin < bins; ++bin) {
    for (int64_t band = first; band < last; ++band) y.data[bin * bands + band] = fn::cast<T>(0);
  }
  for (int64_t band = first; band < last; ++band) {
    const int64_t left = corner(band), middle = corner(band + 1), right = corner(band + 2);
    if (!good || middle >= bins || right > bins) return {ONNXC_INDEX_OUT_OF_RANGE};
    if (middle == left) y.data[middle * bands + band] = fn::cast<T>(1);
    for (int64_t bin = left; bin <= middle && middle > left; ++bin)
      y.data[bin * bands + band] = fn::cast<T>(static_cast<double>(bin - left) / static_cast<double>(middle - left));
    for (int64_t bin = middle; bin < right; ++bin)
      y.data[bin * bands + band] = fn::cast<T>(static_cast<double>(right - bin) / static_cast<double>(right - middle));
  }
  return {};
}

}  // namespace onnxc::scalar
