// What the sample's tokenizer and sampler answer:
//
//   answers encode MERGES <STRINGS                     a line of tokens for each string, whose bytes those of the tokens are
//   answers draw N T K P PENALTY SEED <LOGITS          N tokens, each behind those before it, drawn from the same logits
//
// A string is its length, four bytes, the lowest first, and its bytes. Logits are floats as they lie in memory.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "bpe.hpp"
#include "sampler.hpp"

namespace {

void encode(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string merges{std::istreambuf_iterator<char>(file), {}};
  const bpe::Tokenizer tokenizer(merges);
  for (std::array<unsigned char, 4> size{}; std::cin.read(reinterpret_cast<char*>(size.data()), 4);) {
    std::vector<char> bytes(size[0] | std::size_t{size[1]} << 8 | std::size_t{size[2]} << 16);  // a block that ends where the string does
    std::cin.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    const std::string_view text(bytes.data(), bytes.size());
    std::string back;
    for (const std::int64_t id : tokenizer.encode(text)) {
      back += tokenizer.bytes(id).value();
      std::cout << id << ' ';
    }
    if (back != text) throw std::runtime_error("decoding gives other bytes");
    std::cout << '\n';
  }
  if (tokenizer.bytes(-1) || tokenizer.bytes(tokenizer.size())) throw std::runtime_error("there are tokens beyond the vocabulary");
}

void draw(char** how) {
  const std::string bytes{std::istreambuf_iterator<char>(std::cin), {}};
  std::vector<float> logits(bytes.size() / sizeof(float));
  std::memcpy(logits.data(), bytes.data(), logits.size() * sizeof(float));
  Sampler sampler({.temperature = std::atof(how[1]),
                   .top_k = std::atoll(how[2]),
                   .top_p = std::atof(how[3]),
                   .penalty = std::atof(how[4]),
                   .seed = std::strtoull(how[5], nullptr, 10)});
  std::vector<std::int64_t> context;
  for (int n = std::atoi(how[0]); n > 0; --n) context.push_back(sampler.pick(logits, context));
  for (const std::int64_t id : context) std::cout << id << ' ';
  std::cout << '\n';
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "encode" && argc == 3) encode(argv[2]);
  else if (what == "draw" && argc == 8) draw(argv + 2);
  else return 2;
  return 0;
} catch (const std::exception& error) {
  std::cerr << "answers: " << error.what() << '\n';
  return 1;
}
