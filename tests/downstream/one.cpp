// One model in a program.
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "digits.h"

int main() {
  alignas(digits::arena_alignment) static std::byte arena[digits::arena_bytes + 1];
  std::array<float, 64> image{};
  std::array<float, 10> scores{};
  if (digits::run({.image = image}, {.scores = scores}, arena)) return 1;
  const float sum = std::accumulate(scores.begin(), scores.end(), 0.0f);
  std::printf("scores sum up to %g\n", static_cast<double>(sum));
  if (!(std::fabs(sum - 1) < 1e-5f)) return 1;

  // A call with a wrong arena returns an error, and runs nothing.
  if (digits::arena_bytes > 0) {
    if (digits::run({.image = image}, {.scores = scores}, std::span(arena).first(0)).code != ONNXC_SMALL_ARENA) return 1;
    if (digits::run({.image = image}, {.scores = scores}, std::span(arena).subspan(1)).code != ONNXC_MISALIGNED) return 1;
  }
  return 0;
}
