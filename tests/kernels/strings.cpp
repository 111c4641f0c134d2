// Numbers in words: what is read of a string, and how a number is written.
#include <onnxc/strings.hpp>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

using namespace onnxc;

namespace {

onnxc_string text_of(const std::string& words) { return {words.data(), words.size()}; }

template <class T>
bool reads(const std::string& words, T expected) {
  T number{};
  return !parse_number(text_of(words), number) && number == expected;
}

template <class T>
bool refuses(const std::string& words) {
  T number{};
  return parse_number(text_of(words), number) == Status{ONNXC_BAD_VALUE};
}

template <class T>
std::string written(T number) {
  char room[kNumberCharacters];
  const onnxc_string text = format_number(number, room);
  return {text.data, text.size};
}

constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("floats are read in decimals and hexadecimals, in any case") {
  struct Case {
    const char* words;
    double value;
  };
  for (const Case& c : {Case{"1.5", 1.5}, Case{"-1.5e3", -1500}, Case{" \t+2", 2}, Case{"0x10", 16}, Case{"0X1f", 31}, Case{"-0xAp1", -20},
                        Case{"0", 0}, Case{"INF", kInf}, Case{"-inf", -kInf}, Case{"7 of nine", 7}, Case{"0b1", 0}})
    CHECK(reads(c.words, c.value));
  double number = 0;
  CHECK_FALSE(parse_number(text_of("NaN"), number));
  CHECK(std::isnan(number));
  for (const char* words : {"", " ", "-", "+-1", "--1", "x", "1e999"}) CHECK(refuses<double>(words));
  CHECK(reads("0.1", 0.1f));
}

TEST_CASE("integers are read as far as 64 bits go") {
  constexpr int64_t least = std::numeric_limits<int64_t>::min(), most = std::numeric_limits<int64_t>::max();
  CHECK(reads("-12.9", int64_t{-12}));
  CHECK(reads("9223372036854775807", most));
  CHECK(reads("-9223372036854775808", least));
  CHECK(refuses<int64_t>("9223372036854775808"));
  CHECK(refuses<int64_t>("-9223372036854775809"));
  CHECK(reads("18446744073709551615", ~uint64_t{0}));
  CHECK(refuses<uint64_t>("18446744073709551616"));
  CHECK(reads("300", int8_t{44}));
  CHECK(refuses<int32_t>("one"));
}

TEST_CASE("numbers are written with the fewest digits, and with an exponent where they are far from 1") {
  struct Case {
    float value;
    const char* words;
  };
  for (const Case& c : {Case{0.1f, "0.1"}, Case{0, "0"}, Case{-2, "-2"}, Case{1e-4f, "0.0001"}, Case{9e-5f, "9e-05"},
                        Case{99999992, "99999992"}, Case{1e8f, "1e+08"}, Case{INFINITY, "INF"}, Case{-INFINITY, "-INF"}, Case{NAN, "NaN"}})
    CHECK(written(c.value) == c.words);
  CHECK(written(0.1) == "0.1");
  CHECK(written(true) == "1");
  CHECK(written(false) == "0");
  CHECK(written(std::numeric_limits<int64_t>::min()) == "-9223372036854775808");
}
