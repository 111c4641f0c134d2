#include "compiler/lowering/exact_division.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace onnxc {

bool divides_exactly(float scale) {
  if (!(scale > 0x1p-60f && scale < 0x1p60f)) return false;
  const float r = 1 / scale;
  for (int n = 0; n <= 256; ++n) {
    const auto half = std::bit_cast<uint32_t>((static_cast<float>(n) + 0.5f) * scale);
    for (uint32_t bits = half - 6; bits < half + 6; ++bits) {
      const auto x = std::bit_cast<float>(bits);
      const float q = x * r, corrected = std::fma(std::fma(-scale, q, x), r, q);
      if (std::nearbyint(corrected) != std::nearbyint(x / scale)) return false;
    }
  }
  return true;
}

}  // namespace onnxc
