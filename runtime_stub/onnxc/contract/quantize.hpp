// By which scales vectors divide without a division (vec_integers.hpp).
#pragma once
#include <cmath>

#include "sizes.hpp"

namespace onnxc::inline ONNXC_ISA::contract {

/// Whether fma(fnma(scale, q, x), r, q), with r = 1 / scale and q = x r, rounds to the same whole number as x / scale, for |x / scale| up to 256: bytes are that far from their zero
/// point.
///
/// The error of that is less than a unit in the last place, so it can only differ where the quotient is the float at a half between two whole numbers or next
/// to it. All x that give these are tried: they lie within a few floats of their product with scale.
inline bool exactly_divides(float scale) {
  if (!(scale > 0x1p-60f && scale < 0x1p60f)) return false;
  const float r = 1 / scale;
  for (int n = 0; n <= 256; ++n) {
    float x = (static_cast<float>(n) + 0.5f) * scale;
    for (int i = 0; i < 6; ++i) x = std::nextafter(x, 0.0f);
    for (int i = 0; i < 12; ++i, x = std::nextafter(x, INFINITY)) {
      const float q = x * r, corrected = std::fma(std::fma(-scale, q, x), r, q);
      if (std::nearbyint(corrected) != std::nearbyint(x / scale)) return false;
    }
  }
  return true;
}

}  // namespace onnxc::inline ONNXC_ISA::contract
