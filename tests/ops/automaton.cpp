// Automata find what the threads of their programs find, and are left out where they would be large.
#include "compiler/ops/text/automaton.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "runtime_stub/onnxc/scalar/text/regex.hpp"

namespace onnxc {
namespace {

struct Match {
  bool found;
  std::ptrdiff_t begin, end;
  bool operator==(const Match&) const = default;
};

class Searcher {
 public:
  explicit Searcher(const std::string& pattern) : program_(compile_regex(Node{}, pattern)), automaton_(make_automaton(program_)) {}
  const std::optional<Automaton>& automaton() const { return automaton_; }

  Match find(const std::string& text, bool whole, bool quickly) const {
    scalar::Regex regex{program_.code.data(), program_.ranges.data(), static_cast<int64_t>(program_.code.size() / 3)};
    if (quickly) {
      regex.automaton = {automaton_->next.data(),        automaton_->classes.data(), automaton_->bounds.data(),
                         std::ssize(automaton_->bounds), automaton_->start,          automaton_->accepting};
    }
    std::vector<int64_t> room(static_cast<std::size_t>(scalar::regex_room(regex.size)));
    const char *begin = nullptr, *end = nullptr;
    const char* const last = text.data() + text.size();
    const bool found = scalar::find_match(regex, text.data(), last, text.data(), whole, room.data(), begin, end);
    return found && !whole ? Match{true, begin - text.data(), end - text.data()} : Match{found, 0, 0};
  }

 private:
  RegexProgram program_;
  std::optional<Automaton> automaton_;
};

TEST_CASE("automata find what threads find", "[regex]") {
  std::mt19937 random(1);
  const std::vector<std::string> pieces{"a", "b", "c", "ab", "\xc3\xa9", "\xe6\xbc\xa2", "\xff", "\xe6\xbc", " "};
  for (const char* pattern : {"a", "[a-c]+", "a*b", "(a|ab)(c|bcd)?", "[^a]+", "\\w\\w+", "(?i)[\xc3\xa9 a]+", "a*", "(?s:.)", "a|a*b",
                              "[\xe6\xbc\xa2]{2}", "(ab|c)*c"}) {
    const Searcher searcher(pattern);
    INFO(pattern);
    REQUIRE(searcher.automaton());
    for (int round = 0; round < 300; ++round) {
      std::string text;
      for (auto length = random() % 12; length > 0; --length) text += pieces[random() % pieces.size()];
      for (bool whole : {false, true}) CHECK(searcher.find(text, whole, true) == searcher.find(text, whole, false));
    }
    const std::string much(2000, 'a');  // a*b reads all of it from each place, unless threads go on
    CHECK(searcher.find(much, false, true) == searcher.find(much, false, false));
    CHECK(searcher.find(much + "b", false, true) == searcher.find(much + "b", false, false));
  }
}

TEST_CASE("automata that would be large, or look at places, are left out", "[regex]") {
  for (const char* pattern : {"\\ba", "^a", "a$", "(a|b)*a(a|b){14}", "(\\w{30}|\\d{40}x){20}"}) {
    INFO(pattern);
    CHECK_FALSE(Searcher(pattern).automaton());
  }
}

TEST_CASE("automata know how far they look ahead", "[regex]") {
  for (const auto& [pattern, little] : {std::pair{"[a-z]+", true},
                                        {"\\w\\w+", true},
                                        {" +|,", true},
                                        {"abc", true},
                                        {"a*b", false},
                                        {"a|a*b", false},
                                        {"(ab)+", true},
                                        {"(a.)*b", false}}) {
    INFO(pattern);
    CHECK(looks_ahead_a_little(*Searcher(pattern).automaton()) == little);
  }
}

}  // namespace
}  // namespace onnxc
