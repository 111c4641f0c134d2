// What the sample's tokenizer and encoder make of strings: answers VOCAB [vectors] <STRINGS
//
// A string is its length, four bytes, the lowest first, and its bytes. Each gives a line of words, each ended by a tab, a line of numbers,
// and a line of the vector's elements if they are asked for.
#include <array>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "encoder.hpp"

int main(int argc, char** argv) try {
  std::ifstream file(argv[1], std::ios::binary);
  const std::string vocabulary{std::istreambuf_iterator<char>(file), {}};
  const wordpiece::Tokenizer tokenizer(vocabulary);
  std::vector<std::string> strings;
  for (std::array<unsigned char, 4> size{}; std::cin.read(reinterpret_cast<char*>(size.data()), 4);) {
    std::vector<char> bytes(size[0] | std::size_t{size[1]} << 8 | std::size_t{size[2]} << 16);  // a block that ends where the string does
    std::cin.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    strings.emplace_back(bytes.begin(), bytes.end());
    const std::string_view text(bytes.data(), bytes.size());
    for (const std::string& word : wordpiece::words(text)) std::cout << word << '\t';
    std::cout << '\n';
    for (const std::int64_t id : tokenizer.encode(text, Encoder::kMaxIds)) std::cout << id << ' ';
    std::cout << '\n';
  }
  if (argc > 2) {
    const std::vector<float> rows = Encoder(vocabulary).vectors(strings);
    for (std::size_t i = 0; i < rows.size(); ++i)
      std::printf("%.9g%c", static_cast<double>(rows[i]), (i + 1) % Encoder::kWidth == 0 ? '\n' : ' ');
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << "answers: " << error.what() << '\n';
  return 1;
}
