// Five models in one program, twice two of them from the same file: each lives in a namespace of its own.
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include "digits.h"
#include "flowers.h"
#include "gpu_digits.h"
#include "one_flower.h"
#include "small_digits.h"

int main() {
  alignas(64) static std::byte arena[65536];
  if (digits::arena_bytes > sizeof arena || one_flower::arena_bytes > sizeof arena) return 1;

  std::array<float, 64> image{};
  std::array<float, 10> digit_scores{};
  if (digits::run({.image = image}, {.scores = digit_scores}, arena)) return 1;

  // The quantised model is the same but for rounding: scores are shares of 1, and codes have 256 steps.
  std::array<float, 10> small_scores{};
  if (small_digits::arena_bytes > sizeof arena) return 1;
  if (small_digits::run({.image = image}, {.scores = small_scores}, arena)) return 1;
  float largest = 0;
  for (std::size_t k = 0; k < 10; ++k) largest = std::fmax(largest, std::fabs(small_scores[k] - digit_scores[k]));
  if (!(largest < 0.05f) || !(largest > 0)) return 1;

  // The same on a GPU, in a session.
  std::array<float, 10> gpu_scores{};
  gpu_digits::Session session;
  if (session.open() || session.run({.image = image}, {.scores = gpu_scores})) return 1;
  for (std::size_t k = 0; k < 10; ++k) {
    if (!(std::fabs(gpu_scores[k] - digit_scores[k]) < 1e-5f)) return 1;
  }

  // The dynamic model on two flowers and the fixed one on the first of them agree.
  const std::vector<float> measures{5.1f, 3.5f, 1.4f, 0.2f, 6.5f, 2.8f, 4.6f, 1.5f};
  std::array<float, 6> both{};
  std::array<float, 3> first{};
  const flowers::Dims dims{.batch = 2};
  if (flowers::arena_bytes(dims) > sizeof arena) return 1;
  if (flowers::run(dims, {.flowers = measures}, {.scores = both}, arena)) return 1;
  if (one_flower::run({.flowers = std::span(measures).first<4>()}, {.scores = first}, arena)) return 1;
  for (std::size_t k = 0; k < 3; ++k) {
    if (!(std::fabs(both[k] - first[k]) < 1e-6f)) return 1;
  }

  // A size beyond the declared bounds is refused.
  const std::vector<float> many(65 * 4);
  std::vector<float> many_scores(65 * 3);
  if (flowers::run({.batch = 65}, {.flowers = many}, {.scores = many_scores}, arena).code != ONNXC_BAD_DIMENSION) return 1;

  std::printf("%s, %s, %s and %s in one program\n", digits_model()->name, small_digits_model()->name, flowers_model()->name,
              one_flower_model()->name);
  return 0;
}
