// fn::quantize on vectors, which has no division, against the quotient of single values: to the bit, at each place where a result changes and at the floats around
// it, for scales of all sizes.
#include <onnxc/map.hpp>

#include <bit>
#include <cmath>
#include <random>

#include "compiler/lowering/exact_division.h"
#include "tests/kernels/common.hpp"

using namespace onnxc;
using namespace onnxc::test;

namespace {

float scale_in_use, zero_in_use;

template <class T>
struct Quantize {
  template <class L, class X0>
  static ONNXC_INLINE auto apply(L lanes, X0 x0) {
    return fn::quantize<T>(x0, lanes(scale_in_use), lanes(zero_in_use));
  }
};

struct Steps {
  template <class L, class X0>
  static ONNXC_INLINE auto apply(L lanes, X0 x0) {
    return fn::byte_steps(x0, lanes(scale_in_use), lanes(zero_in_use));
  }
};

/// Products of scale and halves of integers around the range of T, the eight floats around each, and what is no number or far away.
template <class T>
std::vector<float> values_for(float scale, float zero) {
  using Limits = std::numeric_limits<T>;
  std::vector<float> values{0.0f, -0.0f, 1e-42f, -1e-42f, 1e30f, -1e30f, 3e38f, -3e38f, INFINITY, -INFINITY, NAN, -NAN};
  const int low = static_cast<int>(Limits::min()) - static_cast<int>(zero), high = static_cast<int>(Limits::max()) - static_cast<int>(zero);
  const int step = sizeof(T) == 1 ? 1 : 97;
  for (int n = low - 2 * step; n <= high + 2 * step; n += step) {
    float at = (static_cast<float>(n) + 0.5f) * scale;
    for (int i = 0; i < 4; ++i) at = std::nextafter(at, -INFINITY);
    for (int i = 0; i < 8; ++i, at = std::nextafter(at, INFINITY)) values.push_back(at);
  }
  return values;
}

template <class T>
void check(float scale) {
  using Limits = std::numeric_limits<T>;
  for (const T zero : {Limits::min(), Limits::max(), T(Limits::min() / 2 + Limits::max() / 2 + 1), T(Limits::max() - 3)}) {
    scale_in_use = scale;
    zero_in_use = static_cast<float>(zero);
    const std::vector<float> x = values_for<T>(scale, zero_in_use);
    std::vector<T> y(x.size() + 1, T(77));
    map<Quantize<T>>({}, {static_cast<int64_t>(x.size())}, Stream{y.data()}, Stream{x.data()});
    int64_t wrong = 0;
    for (size_t i = 0; i < x.size(); ++i) wrong += y[i] != fn::cast<T>(std::nearbyint(x[i] / scale) + zero_in_use);
    CHECK(wrong == 0);
    CHECK(y[x.size()] == T(77));
    if constexpr (std::is_same_v<T, uint8_t>) {
      std::vector<float> steps(x.size());
      map<Steps>({}, {static_cast<int64_t>(x.size())}, Stream{steps.data()}, Stream{x.data()});
      for (size_t i = 0; i < x.size(); ++i)
        wrong += std::bit_cast<uint32_t>(steps[i]) != std::bit_cast<uint32_t>(static_cast<float>(y[i]) - zero_in_use);
      CHECK(wrong == 0);
    }
  }
}

}  // namespace

TEST_CASE("quantize gives the quotient's nearest integer without a division") {
  std::mt19937 random(7);
  std::vector<float> scales{
      1.0f, 0.5f, 0x1p-59f, 0x1p59f, 0x1.000002p0f, 0x1.fffffcp-7f, 0x1.555556p-8f, 1.0f / 255.0f, 0.01865844801068306f};
  for (int i = 0; i < 60; ++i)
    scales.push_back(std::ldexp(1.0f + static_cast<float>(random() % (1 << 23)) * 0x1p-23f, static_cast<int>(random() % 40) - 30));
  for (float scale : scales) {
    INFO(scale);
    CHECK(divides_exactly(scale));
    check<uint8_t>(scale);
    check<int8_t>(scale);
  }
  check<uint16_t>(1.0f);
  check<int16_t>(1.0f);
  for (float scale : {0.0f, -1.0f, INFINITY, NAN, 0x1p-61f, 0x1p61f}) CHECK(!divides_exactly(scale));
}
