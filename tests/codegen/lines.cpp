#include "codegen/lines.h"

#include <catch2/catch.hpp>

#include <sstream>
#include <vector>

namespace onnxc {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(in_short_lines(text));
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::string without_spaces(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

TEST_CASE("short lines stay as they are") {
  for (const std::string text : {"", "\n", "int x;\n", "int x;", "  // a\n\n#if 1\n"}) CHECK(in_short_lines(text) == text);
  const std::string directive = "#define A " + repeated("b, ", 100) + "\n";
  CHECK(in_short_lines(directive) == directive);
}

TEST_CASE("code is broken after commas, outside of literals") {
  const std::string call = "  f(" + repeated("\"a, \\\", b\", x + 1, ", 20) + "0);";
  const std::vector<std::string> lines = lines_of(call + "\n");
  CHECK(lines.size() == 3);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    CHECK(lines[i].size() <= kLongestLine);
    CHECK(lines[i].starts_with(i == 0 ? "  f(" : "      "));
    CHECK((i + 1 == lines.size() || lines[i].back() == ','));
  }
  CHECK(without_spaces(in_short_lines(call)) == without_spaces(call));
  const std::string sum = "x = " + repeated("abcdef + ", 40) + "1;", literal = "g(\"" + repeated("long, ", 50) + "\", 1, 2);";
  for (const std::string& line : lines_of(sum)) CHECK(line.size() <= kLongestLine);
  CHECK(without_spaces(in_short_lines(sum)) == without_spaces(sum));
  CHECK(in_short_lines(literal).find(repeated("long, ", 50)) != std::string::npos);  // data
}

TEST_CASE("comments are broken between words, and come before long code") {
  for (const std::string& word : {std::string("word "), std::string("back\\ slash "), std::string(200, 'n') + " ", std::string(300, '\\'),
                                  repeated("\xc3\xa9", 150)}) {
    const std::string comment = "  // 7: " + repeated(word, 40) + "end";
    for (const std::string& line : lines_of(comment)) {
      CHECK(line.starts_with("  // "));
      CHECK((line.size() <= kLongestLine || word[0] == '\\'));
      CHECK(line.back() != '\\');
      const std::size_t first = line.find_first_not_of(" /7:");
      CHECK((first == line.npos || (static_cast<unsigned char>(line[first]) & 0xc0) != 0x80));
    }
  }
  const std::vector<std::string> lines = lines_of("  int64_t x;  // " + repeated("word ", 40) + "end\n");
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].starts_with("  // word"));
  CHECK(lines[2] == "  int64_t x;");
}

}  // namespace
}  // namespace onnxc
