// Reads an image of 8x8 pixels, asks the compiled model which digit it shows, and compares the scores with stored ones.
//
//   digits digit.pgm [expected.txt]
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

#include "digits.h"

namespace {

using Image = std::array<float, 64>;

/// A plain PGM of 8x8 pixels as values in [0, 1]; false when it is anything else.
bool read_pgm(const char* path, Image& image) {
  std::ifstream file(path);
  std::string word;
  auto next = [&] {
    while (file >> word && word[0] == '#') file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    return file ? word : std::string();
  };
  if (next() != "P2" || next() != "8" || next() != "8") return false;
  const float brightest = std::strtof(next().c_str(), nullptr);
  for (float& pixel : image) pixel = std::strtof(next().c_str(), nullptr) / brightest;
  return static_cast<bool>(file);
}

void draw(const Image& image) {
  const char ink[] = " .:-=+*#@";
  for (int row = 0; row < 8; ++row) {
    std::printf("    |");
    for (int column = 0; column < 8; ++column) {
      const char c = ink[static_cast<int>(image[static_cast<std::size_t>(row * 8 + column)] * 8.0f)];
      std::printf("%c%c", c, c);
    }
    std::printf("|\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  Image image;
  if (argc < 2 || !read_pgm(argv[1], image)) {
    std::fprintf(stderr, "usage: digits IMAGE.pgm [EXPECTED.txt]   (a plain PGM of 8x8 pixels)\n");
    return 2;
  }
  draw(image);

  // All the memory that the model uses, beside its weights and the two arrays.
  alignas(digits::arena_alignment) static std::byte arena[std::max<std::size_t>(digits::arena_bytes, 1)];
  std::array<float, 10> scores{};
  if (const onnxc::Status status = digits::run({.image = image}, {.scores = scores}, arena)) {
    std::fprintf(stderr, "digits: %s\n", onnxc::describe(status));
    return 1;
  }

  for (std::size_t digit = 0; digit < scores.size(); ++digit) {
    std::printf("    %zu  %.6f  %s\n", digit, static_cast<double>(scores[digit]),
                std::string(static_cast<std::size_t>(scores[digit] * 40.0f), '#').c_str());
  }
  const auto answer = std::max_element(scores.begin(), scores.end()) - scores.begin();
  std::printf("  the model says: %td (arena: %zu bytes)\n", answer, static_cast<std::size_t>(digits::arena_bytes));

  if (argc > 2) {
    std::ifstream expected(argv[2]);
    std::string word;
    long label = -1;
    expected >> word >> label;
    bool right = answer == label;
    float largest_error = 0;
    for (const float score : scores) {
      float value = NAN;
      expected >> value;
      const float error = std::fabs(score - value);
      right = right && error <= 1e-5f;  // false for NaN
      largest_error = std::fmax(largest_error, error);
    }
    std::printf("  expected: %ld; largest difference of a score: %.2g: %s\n", label, static_cast<double>(largest_error),
                right ? "right" : "WRONG");
    return right ? 0 : 1;
  }
  return 0;
}
