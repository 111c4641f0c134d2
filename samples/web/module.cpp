// The model of samples/digits as a module of WebAssembly: the page writes an image into memory, calls `recognise` and reads the scores.
#include <algorithm>

#include "digits.h"

namespace {
float image[64], scores[10];
alignas(digits::arena_alignment) std::byte arena[std::max<std::size_t>(digits::arena_bytes, 1)];
}  // namespace

extern "C" {
/// Where the page writes an image of 8x8 pixels, 0 for paper to 1 for ink, and where it finds ten scores.
[[gnu::visibility("default")]] float* image_at() { return image; }
[[gnu::visibility("default")]] float* scores_at() { return scores; }
/// 0, or an onnxc_status.
[[gnu::visibility("default")]] int recognise() {
  return digits::run({.image = std::span<const float, 64>(image)}, {.scores = std::span<float, 10>(scores)}, arena).code;
}
}
