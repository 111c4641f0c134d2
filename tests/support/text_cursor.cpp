// The position of a parser in its text.
#include "compiler/support/text_cursor.h"

#include <catch2/catch.hpp>

using onnxc::TextCursor;

namespace {
bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
}  // namespace

TEST_CASE("tokens are taken behind spaces, and only if they come next") {
  TextCursor in("  ab -> c");
  CHECK_FALSE(in.take("->"));
  CHECK(in.position() == 2);
  CHECK(in.peek("a"));
  CHECK(in.take_while(is_letter) == "ab");
  CHECK(in.take_while(is_letter).empty());
  CHECK_FALSE(in.take("->>"));
  CHECK(in.take("->"));
  CHECK(in.rest() == " c");
  CHECK(in.skip() == "c");
  CHECK_FALSE(in.take("cd"));
  CHECK(in.take("c"));
  CHECK(in.skip().empty());
  CHECK(in.position() == in.text().size());
}

TEST_CASE("characters are taken as they are, and no more than there are") {
  TextCursor in(" a b");
  const TextCursor start = in;
  CHECK(in.advance(2) == " a");
  CHECK(in.advance(9) == " b");
  CHECK(in.advance(1).empty());
  CHECK_FALSE(in.peek("b"));
  in = start;
  CHECK(in.rest() == " a b");
}

TEST_CASE("an empty text has nothing") {
  TextCursor in("");
  CHECK(in.skip().empty());
  CHECK_FALSE(in.take("a"));
  CHECK(in.take(""));
  CHECK(in.take_while(is_letter).empty());
}

TEST_CASE("a parser may have gaps of its own") {
  TextCursor in(",,a, b", [](std::string_view rest) { return std::min(rest.find_first_not_of(','), rest.size()); });
  CHECK(in.take("a"));
  CHECK_FALSE(in.take("b"));
  CHECK(in.take(" b"));
}
