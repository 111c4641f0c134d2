// Ranges by hand, and against trying everything.
#include "tools/quantize/histogram.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>

namespace onnxc {
namespace {

Histogram histogram_of(const std::vector<float>& values) {
  Histogram histogram;
  histogram.add(values);
  return histogram;
}

TEST_CASE("a histogram grows with what comes", "[quantize]") {
  Histogram histogram;
  CHECK(histogram.is_empty());
  histogram.add(std::vector<float>{0.25f, -0.5f});
  histogram.add(std::vector<float>{100});
  CHECK(histogram.low() == -0.5);
  CHECK(histogram.high() == 100);
  CHECK(histogram.count() == 3);
  uint64_t all = 0;
  for (std::size_t b = 0; b < Histogram::kBins; ++b) {
    all += histogram.bins()[b];
    if (histogram.bins()[b] == 0) continue;
    const double nearest =
        std::min({std::abs(histogram.middle(b) - 0.25), std::abs(histogram.middle(b) + 0.5), std::abs(histogram.middle(b) - 100)});
    CHECK(nearest <= histogram.bin_width());
  }
  CHECK(all == 3);
  histogram.merge(histogram_of({-300}));
  CHECK(histogram.low() == -300);
  CHECK(histogram.count() == 4);
  histogram.add(std::vector<float>{std::nanf("")});
  CHECK(!histogram.is_finite());
}

TEST_CASE("codes contain zero exactly", "[quantize]") {
  const Codes even = codes_for({-1, 1});
  CHECK(even.scale == Approx(2.0 / 255));
  CHECK((even.zero == 127 || even.zero == 128));
  CHECK(codes_for({0, 51}).zero == 0);
  CHECK(codes_for({0, 51}).scale == Approx(0.2));
  CHECK(codes_for({-51, 0}).zero == 255);
  CHECK(codes_for({3, 51}).zero == 0);  // a range that lacks 0 gets it
  CHECK(!codes_for({0, 0}).is_usable());
  CHECK(!codes_for({0, 1e-38}).is_usable());
  CHECK(!codes_for({-HUGE_VAL, 0}).is_usable());
}

TEST_CASE("outliers widen a range by minmax only", "[quantize]") {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(100000);
  for (float& x : values) x = normal(random);
  values[7] = 60;
  const Histogram histogram = histogram_of(values);
  CHECK(choose_range(histogram, RangeMethod::MinMax, 0).high == 60);
  const Range most = choose_range(histogram, RangeMethod::Percentile, 99.9);
  CHECK(most.high == Approx(3.29).margin(0.15));  // of a normal distribution 0.05 % lie above
  CHECK(most.low == Approx(-3.29).margin(0.15));
  CHECK(choose_range(histogram, RangeMethod::Entropy, 0).high < 20);
  // The error of the chosen range is the least of all clipped ones, measured on the numbers themselves.
  const auto error = [&](Range range) {
    const Codes codes = codes_for(range);
    double sum = 0;
    for (const float x : values) {
      const double scale = static_cast<double>(codes.scale),
                   code = std::min(255.0, std::max(0.0, std::nearbyint(static_cast<double>(x) / scale) + codes.zero));
      const double d = static_cast<double>(x) - (code - codes.zero) * scale;
      sum += d * d / static_cast<double>(values.size());
    }
    return sum;
  };
  const Range chosen = choose_range(histogram, RangeMethod::Mse, 0);
  CHECK(error(chosen) == Approx(mean_squared_error(histogram, codes_for(chosen))).epsilon(0.05));
  for (double t = 2; t <= 60; t += 0.5)
    CHECK(error(chosen) <= 1.05 * error({std::max(-t, histogram.low()), std::min(t, histogram.high())}));
}

}  // namespace
}  // namespace onnxc
