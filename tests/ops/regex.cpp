// Letters in other cases, as RE2 understands (?i): a class is completed before it is negated.
#include "compiler/ops/text/regex.h"

#include <catch2/catch.hpp>
#include <string>

#include "runtime_stub/onnxc/scalar/text/regex.hpp"

namespace onnxc {
namespace {

bool matches(const std::string& pattern, const std::string& text) {
  const RegexProgram program = compile_regex(Node{}, pattern);
  const scalar::Regex regex{program.code.data(), program.ranges.data(), static_cast<int64_t>(program.code.size() / 3)};
  std::vector<int64_t> room(static_cast<std::size_t>(scalar::regex_room(regex.size)));
  const char *begin = nullptr, *end = nullptr;
  return scalar::find_match(regex, text.data(), text.data() + text.size(), text.data(), true, room.data(), begin, end);
}

TEST_CASE("classes are completed by other cases before they are negated", "[regex]") {
  struct Case {
    std::string pattern, matching, other;  // texts of one code point each
  };
  // ſ is a small letter in another case of s, the Kelvin sign one of k.
  for (const auto& [pattern, matching, other] :
       {Case{"\\P{Ll}", "AÉ1", "aéß"}, Case{"(?i)\\P{Ll}", "1 漢", "aAéÉ"}, Case{"(?i)\\P{Lu}", "1ŉı", "aAéÉ"},
        Case{"(?i)\\p{^Lu}", "1ŉ", "aA"}, Case{"(?i)\\p{Lu}", "aAéÉ", "1ŉı"}, Case{"(?i)[^\\p{Ll}]", "1", "aA"},
        Case{"(?i)[^\\P{Ll}]", "aA", "1"}, Case{"(?i)[\\P{Ll}k]", "1kK\u212a", "aA"}, Case{"(?i)[^a]", "bB", "aA"},
        Case{"(?i)[[:^lower:]]", "1é", "aAſ\u212a"}, Case{"(?i)[^[:^lower:]]", "aAſ\u212a", "1é"}, Case{"(?i)\\W", "é", "sSſkK\u212a_"},
        Case{"\\W", "éſ\u212a", "sS"}, Case{"(?i)\\D", "aA", "1"}, Case{"(?i)[^\\W]", "sSſkK\u212a", "é"}}) {
    INFO(pattern);
    for (const auto& [texts, expected] : {std::pair{matching, true}, {other, false}}) {
      for (const char* at = texts.data(); at < texts.data() + texts.size();) {
        const char* const first = at;
        next_code(at, texts.data() + texts.size());
        INFO(std::string(first, at));
        CHECK(matches(pattern, std::string(first, at)) == expected);
      }
    }
  }
}

TEST_CASE("letters have all the cases that Unicode's simple folding knows", "[regex]") {
  for (const std::string letters :
       {"aA", "sSſ", "kK\u212a", "µμΜ", "θϑϴΘ", "ςσΣ", "ǆǅǄ", "ßẞ", "\u0390\u1fd3", "\ufb05\ufb06", "\u0442\u0422\u1c84\u1c85"}) {
    for (const char* i = letters.data(); i < letters.data() + letters.size();) {
      const char* const letter = i;
      next_code(i, letters.data() + letters.size());
      INFO(letters << " " << std::string(letter, i));
      CHECK(matches("(?i)(" + std::string(letter, i) + ")+", letters));
    }
  }
  for (const auto& [pattern, text] : {std::pair{"(?i)i", "ı"}, {"(?i)I", "ı"}, {"(?i)i", "İ"}, {"(?i)İ", "i"}, {"(?i)ı", "I"}}) {
    INFO(pattern);
    CHECK_FALSE(matches(pattern, text));
  }
}

}  // namespace
}  // namespace onnxc
