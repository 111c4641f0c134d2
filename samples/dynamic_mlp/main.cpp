// A model with a dynamic dimension: the same code for one flower and for all of the file, each with exactly the memory it needs.
//
//   dynamic_mlp flowers.txt
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "dynamic_mlp.h"

namespace {

struct Flowers {
  std::vector<float> measures;  // four a flower
  std::vector<int> kinds;
  std::vector<float> expected;  // three scores a flower
};

Flowers read(const char* path) {
  Flowers flowers;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    float values[4], scores[3];
    int kind = 0;
    words >> values[0] >> values[1] >> values[2] >> values[3] >> kind >> scores[0] >> scores[1] >> scores[2];
    if (!words) continue;
    flowers.measures.insert(flowers.measures.end(), values, values + 4);
    flowers.kinds.push_back(kind);
    flowers.expected.insert(flowers.expected.end(), scores, scores + 3);
  }
  return flowers;
}

/// Runs the model on flowers [0, count); true when every score is the expected one.
bool run(const Flowers& flowers, std::size_t count) {
  const dynamic_mlp::Dims dims{.batch = static_cast<int64_t>(count)};
  const std::size_t alignment = dynamic_mlp::arena_alignment;
  const std::size_t bytes = (std::max<std::size_t>(dynamic_mlp::arena_bytes(dims), 1) + alignment - 1) / alignment * alignment;
  const std::unique_ptr<std::byte, decltype(&std::free)> arena(static_cast<std::byte*>(std::aligned_alloc(alignment, bytes)), &std::free);

  std::vector<float> scores(count * 3);
  const onnxc::Status status =
      dynamic_mlp::run(dims, {.flowers = std::span(flowers.measures).first(count * 4)}, {.scores = scores}, std::span(arena.get(), bytes));
  if (status) {
    std::fprintf(stderr, "dynamic_mlp: %s\n", onnxc::describe(status));
    return false;
  }
  int right = 0;
  bool close = true;
  float largest_error = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto first = scores.begin() + static_cast<std::ptrdiff_t>(i * 3);
    right += std::max_element(first, first + 3) - first == flowers.kinds[i];
    for (std::size_t k = 0; k < 3; ++k) {
      const float error = std::fabs(scores[i * 3 + k] - flowers.expected[i * 3 + k]);
      close = close && error <= 1e-5f;  // false for NaN
      largest_error = std::fmax(largest_error, error);
    }
  }
  std::printf("batch %3zu: arena %6zu bytes, %d of %zu right, largest difference of a score %.2g\n", count,
              static_cast<std::size_t>(dynamic_mlp::arena_bytes(dims)), right, count, static_cast<double>(largest_error));
  return close;
}

}  // namespace

int main(int argc, char** argv) {
  const Flowers flowers = read(argc > 1 ? argv[1] : "flowers.txt");
  if (flowers.kinds.empty()) {
    std::fprintf(stderr, "usage: dynamic_mlp flowers.txt\n");
    return 2;
  }
  const bool alone = run(flowers, 1);
  const bool together = run(flowers, flowers.kinds.size());
  return alone && together ? 0 : 1;
}
