#include "compiler/lowering/exact_division.h"

#include <cmath>

namespace onnxc {

bool divides_exactly(float scale) {
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

}  // namespace onnxc
