#include "compiler/passes/round_block.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "runtime_stub/onnxc/types.hpp"

namespace onnxc {
namespace {

constexpr int kTries = 8;
constexpr double kStep = 0.6;  // of a code, by which each scale spans less than the one before

/// The nearest integer, half to even, of what is far smaller than 2^51. Unlike nearbyint it is two additions, of vectors.
double nearest(double x) {
  constexpr double kShift = 0x1.8p52;
  return (x + kShift) - kShift;
}

float storable(double scale) {
  const float exact = std::max(static_cast<float>(scale), FLT_MIN), half = static_cast<float>(float16(exact));
  return std::abs(half - exact) <= 0.01f * exact ? half : exact;
}

struct Codes {
  double scale, zero, most;
  double of(double x) const { return std::clamp(nearest(x * (1 / scale)) + zero, 0.0, most); }
};

double squared_error(std::span<const float> weights, const Codes& codes) {
  double sum = 0;
  for (const float weight : weights) {
    const double x = static_cast<double>(weight), e = x - (codes.of(x) - codes.zero) * codes.scale;
    sum += e * e;
  }
  return sum;
}

}  // namespace

RoundedBlock round_block(std::span<const float> weights, int bits, std::span<uint8_t> codes) {
  double low = 0, high = 0;
  for (const float weight : weights) {
    low = std::min(low, static_cast<double>(weight));
    high = std::max(high, static_cast<double>(weight));
  }
  RoundedBlock best{.error = HUGE_VAL};
  const double most = (1 << bits) - 1, scale_of_all = (high - low) / most;
  if (scale_of_all == 0) {
    std::ranges::fill(codes, uint8_t{0});
    return {};
  }
  for (int i = 0; i < kTries; ++i) {
    const float scale = storable(scale_of_all * (1 - kStep / most * i));
    const double middle = std::floor(most / 2 - (low + high) / 2 / static_cast<double>(scale));
    for (const double zero : {std::clamp(middle, 0.0, most), std::clamp(middle + 1, 0.0, most)}) {
      const double error = squared_error(weights, {static_cast<double>(scale), zero, most});
      if (error < best.error) best = {scale, static_cast<int64_t>(zero), error};
    }
  }
  const Codes chosen{static_cast<double>(best.scale), static_cast<double>(best.zero), most};
  std::ranges::transform(weights, codes.begin(), [&](float x) { return static_cast<uint8_t>(chosen.of(static_cast<double>(x))); });
  return best;
}

}  // namespace onnxc
