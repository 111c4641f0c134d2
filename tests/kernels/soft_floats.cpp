// Rounding and scaling by integers, for cores that compute floats in software, against this machine's floats.
#include <onnxc/scaled_sums.hpp>

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace onnxc;

TEST_CASE("soft floats: the nearest integer") {
  const auto expected = [](float x) {
    if (x != x) return int32_t{0};
    const double rounded = std::nearbyint(static_cast<double>(x));
    return rounded <= INT32_MIN ? INT32_MIN : rounded >= INT32_MAX ? INT32_MAX : static_cast<int32_t>(rounded);
  };
  int wrong = 0;
  // Each exponent with its fractions near both ends and every 4093rd between, with both signs.
  for (uint32_t high = 0; high < 512; ++high) {
    for (uint32_t fraction = 0; fraction < 1u << 23; fraction += fraction < 64 || fraction > (1u << 23) - 4200 ? 1 : 4093) {
      const auto x = std::bit_cast<float>(high << 23 | fraction);
      wrong += nearest_int(x) != expected(x);
    }
  }
  for (int half = -70000; half < 70000; ++half) {
    const float x = static_cast<float>(half) / 2;
    for (const float near : {std::nextafter(x, -1e9f), x, std::nextafter(x, 1e9f)}) wrong += nearest_int(near) != expected(near);
  }
  CHECK(wrong == 0);
}

TEST_CASE("soft floats: scaled sums are those of floats") {
  const auto bounded = [](int32_t x) { return x < -512 ? -512 : x > 512 ? 512 : x; };
  std::mt19937 random(7);
  int wrong = 0, exact_halves = 0;
  const auto check = [&](int32_t n, float factor) { wrong += bounded(nearest_product(n, factor)) != bounded(nearest_int(static_cast<float>(n) * factor)); };
  for (int i = 0; i < 4'000'000; ++i) {
    const auto n = static_cast<int32_t>(random() >> random() % 32) * (random() % 2 == 0 ? 1 : -1);
    check(n, std::ldexp(static_cast<float>(random() % (1u << 24)), -static_cast<int>(random() % 60)));
    check(n, std::bit_cast<float>(static_cast<uint32_t>(random())));
    // A factor that brings the product next to a half: there a float in between decides.
    const auto half = static_cast<float>(random() % 512) + 0.5f;
    float factor = half / static_cast<float>(n == 0 ? 1 : n);
    for (int step = -2; step <= 2; ++step) check(n, std::bit_cast<float>(std::bit_cast<uint32_t>(factor) + static_cast<uint32_t>(step)));
    exact_halves += static_cast<float>(n) * factor == half;
  }
  CHECK(wrong == 0);
  CHECK(exact_halves > 100'000);
}
