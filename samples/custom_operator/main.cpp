// A model with an operator of its own: haversine.hpp.
//
//   custom_operator expected.txt
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "custom_operator.h"

int main(int argc, char** argv) {
  constexpr std::size_t cities = 5;
  std::vector<float> places, expected;
  std::vector<std::int64_t> expected_nearest;
  std::ifstream file(argc > 1 ? argv[1] : "expected.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    float numbers[2 + cities];
    std::int64_t nearest = 0;
    for (float& number : numbers) words >> number;
    words >> nearest;
    if (!words) continue;
    places.insert(places.end(), numbers, numbers + 2);
    expected.insert(expected.end(), numbers + 2, numbers + 2 + cities);
    expected_nearest.push_back(nearest);
  }
  const std::size_t n = expected_nearest.size();
  if (n == 0) {
    std::fprintf(stderr, "usage: custom_operator expected.txt\n");
    return 2;
  }

  const custom_operator::Dims dims{.n = static_cast<std::int64_t>(n)};
  const std::size_t alignment = custom_operator::arena_alignment, bytes = (custom_operator::arena_bytes(dims) / alignment + 1) * alignment;
  const std::unique_ptr<std::byte, decltype(&std::free)> arena(static_cast<std::byte*>(std::aligned_alloc(alignment, bytes)), &std::free);
  std::vector<float> closeness(n * cities);
  std::vector<std::int64_t> nearest(n);
  const onnxc::Status status =
      custom_operator::run(dims, {.places = places}, {.closeness = closeness, .nearest = nearest}, std::span(arena.get(), bytes));
  if (status) {
    std::fprintf(stderr, "custom_operator: %s\n", onnxc::describe(status));
    return 1;
  }
  bool right = nearest == expected_nearest;
  float largest_error = 0;
  for (std::size_t i = 0; i < closeness.size(); ++i) {
    const float error = std::fabs(closeness[i] - expected[i]);
    right = right && error <= 1e-4f;  // false for NaN
    largest_error = std::fmax(largest_error, error);
  }
  std::printf("%zu places, largest error %.2g: %s\n", n, static_cast<double>(largest_error), right ? "right" : "WRONG");
  return right ? 0 : 1;
}
