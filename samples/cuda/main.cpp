// The digits sample on a GPU: one session, which keeps the weights there, runs an image again and again.
//
//   digits digit.pgm [expected.txt]
//
// Nothing here is CUDA's: the same program runs on a GPU or in the emulator, as the model was compiled.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "digits.h"

namespace {

using Image = std::array<float, 64>;

/// A plain PGM of 8x8 pixels as values in [0, 1]; false when it is anything else.
bool read_pgm(const char* path, Image& image) {
  std::ifstream file(path);
  std::string word;
  const auto next = [&] {
    while (file >> word && word[0] == '#') file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    return file ? word : std::string();
  };
  if (next() != "P2" || next() != "8" || next() != "8") return false;
  const float brightest = std::strtof(next().c_str(), nullptr);
  for (float& pixel : image) pixel = std::strtof(next().c_str(), nullptr) / brightest;
  return static_cast<bool>(file);
}

/// Says what went wrong, in the words of CUDA where they are its.
int fail(const char* what, const onnxc::Status& status) {
  char text[300];
  onnxc::describe(status, text, sizeof(text));
  std::fprintf(stderr, "digits: %s: %s\n", what, text);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  Image image;
  if (argc < 2 || !read_pgm(argv[1], image)) {
    std::fprintf(stderr, "usage: digits IMAGE.pgm [EXPECTED.txt]   (a plain PGM of 8x8 pixels)\n");
    return 2;
  }

  digits::Session session;  // one run at a time; another thread has one of its own
  if (const onnxc::Status status = session.open()) return fail("no session", status);
  std::array<float, 10> scores{};
  std::vector<double> microseconds;
  for (int i = 0; i < 100; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    if (const onnxc::Status status = session.run({.image = image}, {.scores = scores})) return fail("no result", status);
    microseconds.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(microseconds.begin(), microseconds.end());

  const auto answer = std::max_element(scores.begin(), scores.end()) - scores.begin();
  std::printf("the model says: %td; a run takes %.0f us (median of %zu)\n", answer, microseconds[microseconds.size() / 2],
              microseconds.size());
  std::printf("on the GPU: %zu bytes of weights, %zu of arena; one graph: %s\n", digits::device_weights_bytes, digits::device_arena_bytes,
              digits::can_capture ? "yes" : "no");
  if (argc < 3) return 0;

  std::ifstream expected(argv[2]);
  std::string word;
  long label = -1;
  expected >> word >> label;
  bool right = answer == label;
  for (const float score : scores) {
    float value = NAN;
    expected >> value;
    right = right && std::fabs(score - value) <= 1e-5f;  // false for NaN
  }
  std::printf("expected: %ld: %s\n", label, right ? "right" : "WRONG");
  return right ? 0 : 1;
}
