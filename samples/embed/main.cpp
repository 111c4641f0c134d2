// Says how near sentences are to each other in meaning. Tokenizer, vocabulary and model are in the program.
//
//   embed "The soup is hot." "Stir the sauce."       their cosine similarity, from -1 to 1
//   embed --index FILE QUERY                         the lines of a text file that are nearest to the query
//   embed --check expected.txt                       similarities beside stored ones
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder.hpp"

namespace {

constexpr std::string_view kVocabulary =
#include "vocab.inc"  // vocab.txt as a string
    ;

float product(const float* a, const float* b) { return std::inner_product(a, a + Encoder::kWidth, b, 0.0f); }

float similarity(Encoder& encoder, const std::string& a, const std::string& b) {
  const std::array<std::string, 2> sentences{a, b};
  const std::vector<float> rows = encoder.vectors(sentences);
  return product(rows.data(), rows.data() + Encoder::kWidth);
}

/// The lines of a file that are not empty.
std::vector<std::string> lines_of(const char* path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(std::string(path) + ": cannot be opened");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

int search(Encoder& encoder, const char* path, const std::string& query) {
  const std::vector<std::string> lines = lines_of(path);
  const std::vector<float> rows = encoder.vectors(lines), wanted = encoder.vectors(std::span(&query, 1));
  std::vector<std::pair<float, std::size_t>> found;
  for (std::size_t i = 0; i < lines.size(); ++i) found.emplace_back(product(&rows[i * Encoder::kWidth], wanted.data()), i);
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  found.resize(std::min<std::size_t>(found.size(), 5));
  for (const auto& [value, i] : found) std::printf("%.4f  %s\n", static_cast<double>(value), lines[i].c_str());
  return 0;
}

int check(Encoder& encoder, const char* path) {
  bool right = true;
  float largest_error = 0;
  int pairs = 0;
  for (const std::string& line : lines_of(path)) {
    if (line[0] == '#') continue;
    const std::size_t first = line.find('\t'), second = line.find('\t', first + 1);
    if (second == std::string::npos)
      throw std::runtime_error(std::string(path) + ": a line is not a number and two sentences, parted by tabs");
    const float expected = std::strtof(line.c_str(), nullptr);
    const float error = std::fabs(similarity(encoder, line.substr(first + 1, second - first - 1), line.substr(second + 1)) - expected);
    right = right && error <= 1e-5f;  // false for NaN
    largest_error = std::fmax(largest_error, error);
    ++pairs;
  }
  std::printf("%d pairs, largest difference of a similarity: %.2g: %s\n", pairs, static_cast<double>(largest_error),
              right ? "right" : "WRONG");
  return right && pairs > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string_view first = argc > 1 ? argv[1] : "";
  Encoder encoder(kVocabulary);
  if (argc == 4 && first == "--index") return search(encoder, argv[2], argv[3]);
  if (argc == 3 && first == "--check") return check(encoder, argv[2]);
  if (argc == 3 && !first.starts_with("--")) {
    std::printf("%.4f\n", static_cast<double>(similarity(encoder, argv[1], argv[2])));
    return 0;
  }
  std::fprintf(stderr, "usage: embed SENTENCE SENTENCE | embed --index FILE QUERY | embed --check EXPECTED\n");
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "embed: %s\n", error.what());
  return 1;
}
