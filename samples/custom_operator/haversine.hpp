// The operator geo.Haversine: the distance over the earth from each place to each city, and which city is nearest.
#pragma once
#include <onnxc/custom.hpp>

#include <cmath>

namespace geo {

/// places: [n, 2], cities: [m, 2], degrees of latitude and longitude. distances: [n, m]; nearest: [n], or absent.
/// Attributes: radius of the sphere (6371), unit ("km" or "mi").
inline onnxc::Status haversine(onnxc::Tensor<const float> places, onnxc::Tensor<const float> cities, onnxc::Tensor<float> distances,
                               onnxc::Tensor<std::int64_t> nearest, const onnxc::Attributes& attributes) {
  const std::string_view unit = attributes.string("unit", "km");
  if (unit != "km" && unit != "mi") return {ONNXC_BAD_VALUE};
  const float diameter = 2 * attributes.number("radius", 6371.0f) * (unit == "mi" ? 0.621371f : 1.0f);
  constexpr float radians = 3.14159265f / 180;
  const std::int64_t n = places.shape[0], m = cities.shape[0];
  for (std::int64_t i = 0; i < n; ++i) {
    const float* const a = places.data + 2 * i;
    float* const row = distances.data + m * i;
    std::int64_t best = 0;
    for (std::int64_t k = 0; k < m; ++k) {
      const float* const b = cities.data + 2 * k;
      const float north = std::sin((a[0] - b[0]) * radians / 2), east = std::sin((a[1] - b[1]) * radians / 2);
      const float chord = north * north + std::cos(a[0] * radians) * std::cos(b[0] * radians) * east * east;
      row[k] = diameter * std::asin(std::sqrt(chord < 1 ? chord : 1));
      if (row[k] < row[best]) best = k;
    }
    if (nearest.data != nullptr) nearest.data[i] = best;
  }
  return {};
}

}  // namespace geo
