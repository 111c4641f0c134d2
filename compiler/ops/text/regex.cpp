// A recursive descent over the pattern. A fragment of a program is a list of instructions whose targets are relative, so
// that these can be joined by appending.
#include "compiler/ops/text/regex.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "compiler/ops/text/regex_classes.h"
#include "runtime_stub/onnxc/scalar/text/regex.hpp"

namespace onnxc {
namespace {

using scalar::RegexOp;
using scalar::RegexPlace;

constexpr std::size_t kMostInstructions = 1 << 16;
constexpr int kMostRepeats = 1000, kDeepest = 500;

struct Instruction {
  RegexOp op;
  int32_t a = 0, b = 0;  // split, jump: relative to this instruction
};
using Fragment = std::vector<Instruction>;

class Parser {
 public:
  Parser(const Node& node, std::string_view pattern)
      : node_(node), at_(pattern.data()), end_(pattern.data() + pattern.size()), pattern_(pattern) {}

  RegexProgram run() {
    Fragment all = alternation();
    if (at_ < end_) fail("has a ) too many");
    all.push_back({RegexOp::match});
    RegexProgram program;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool jumps = all[i].op == RegexOp::split || all[i].op == RegexOp::jump;
      const auto here = static_cast<int32_t>(i);
      program.code.insert(program.code.end(), {static_cast<int32_t>(all[i].op), all[i].a + (jumps ? here : 0),
                                               all[i].b + (all[i].op == RegexOp::split ? here : 0)});
    }
    program.ranges = std::move(ranges_);
    if (program.ranges.empty()) program.ranges = {1, 0};
    return program;
  }

 private:
  struct Flags {
    bool ignore_case = false, lines = false, dot_all = false, lazy = false;
  };

  [[noreturn]] void fail(const std::string& what) const {
    node_.fail(ErrorKind::Invalid, fmt::format("the pattern '{}' {}", shown(), what));
  }
  [[noreturn]] void unsupported(const std::string& what) const {
    node_.fail(ErrorKind::Unsupported, fmt::format("the pattern '{}' has {}", shown(), what));
  }

  std::string shown() const { return pattern_.size() <= 60 ? std::string(pattern_) : std::string(pattern_.substr(0, 60)) + "..."; }
  bool take(std::string_view text) {
    if (!std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with(text)) return false;
    at_ += text.size();
    return true;
  }
  bool more() const { return at_ < end_; }
  int32_t code() {
    const int32_t c = next_code(at_, end_);
    if (c < 0) fail("is not UTF-8");
    return c;
  }

  static void append(Fragment& to, const Fragment& fragment) { to.insert(to.end(), fragment.begin(), fragment.end()); }
  void check_size(std::size_t size) const {
    if (size > kMostInstructions) unsupported("more repetitions than fit");
  }
  static int32_t length(const Fragment& fragment) { return static_cast<int32_t>(fragment.size()); }

  Fragment alternation() {
    if (++depth_ > kDeepest) fail("is nested too deeply");
    Fragment result = sequence();
    while (take("|")) {
      const Fragment other = sequence();
      Fragment joined{{RegexOp::split, 1, length(result) + 2}};
      append(joined, result);
      joined.push_back({RegexOp::jump, length(other) + 1});
      append(joined, other);
      check_size(joined.size());
      result = std::move(joined);
    }
    --depth_;
    return result;
  }

  Fragment sequence() {
    Fragment result;
    while (more() && *at_ != '|' && *at_ != ')') {
      append(result, repeated());
      check_size(result.size());
    }
    return result;
  }

  /// Zero or more, or zero or one.
  static Fragment optional(const Fragment& fragment, bool loops, bool lazy) {
    const int32_t skip = length(fragment) + (loops ? 2 : 1);
    Fragment result{lazy ? Instruction{RegexOp::split, skip, 1} : Instruction{RegexOp::split, 1, skip}};
    append(result, fragment);
    if (loops) result.push_back({RegexOp::jump, -length(fragment) - 1});
    return result;
  }

  Fragment repeated() {
    Fragment fragment = atom();
    for (bool again = false; more(); again = true) {
      int least = 0, most = -1;
      if (take("*")) {
      } else if (take("+")) {
        least = 1;
      } else if (take("?")) {
        most = 1;
      } else if (*at_ != '{' || !counts(least, most)) {
        break;
      }
      if (again && at_[-1] != '}') fail("repeats a repetition");
      const bool lazy = take("?") != flags_.lazy;
      Fragment result;
      for (int i = 0; i < least; ++i) {
        append(result, fragment);
        check_size(result.size());
      }
      if (most < 0) {
        append(result, optional(fragment, true, lazy));
      } else {
        Fragment rest;  // nested, so that the first miss ends it
        for (int i = least; i < most; ++i) {
          Fragment one = fragment;
          append(one, rest);
          rest = optional(one, false, lazy);
          check_size(rest.size());
        }
        append(result, rest);
      }
      check_size(result.size());
      fragment = std::move(result);
    }
    return fragment;
  }

  /// {n}, {n,}, {n,m}. Anything else in braces is literal text.
  bool counts(int& least, int& most) {
    const char* at = at_ + 1;
    const auto number = [&](int& value) {
      const char* const first = at;
      value = 0;
      while (at < end_ && *at >= '0' && *at <= '9' && value <= kMostRepeats) value = value * 10 + (*at++ - '0');
      return at > first;
    };
    if (!number(least)) return false;
    most = least;
    if (at < end_ && *at == ',') {
      ++at;
      if (!number(most)) most = -1;
    }
    if (at >= end_ || *at != '}') {
      if (at < end_ && *at >= '0' && *at <= '9') fail("repeats too often");
      return false;
    }
    at_ = at + 1;
    if (least > kMostRepeats || most > kMostRepeats) fail("repeats too often");
    if (most >= 0 && most < least) fail("has a repetition from more to less");
    return true;
  }

  /// The other way round, (?i)\P{Lu} would be everything: capitals are small letters in another case.
  Ranges all_but(Ranges set) const {
    if (flags_.ignore_case) add_other_cases(set);
    return negated(std::move(set));
  }
  Fragment of_set(Ranges set) {
    if (flags_.ignore_case) add_other_cases(set);
    normalise(set);
    const auto at = static_cast<int32_t>(ranges_.size());
    for (const auto& [first, last] : set) ranges_.insert(ranges_.end(), {first, last});
    return {{RegexOp::set, at, static_cast<int32_t>(set.size())}};
  }
  Fragment of_code(int32_t c) { return of_set({{c, c}}); }
  static Fragment place(RegexPlace p) { return {{RegexOp::hold, static_cast<int32_t>(p)}}; }

  Fragment atom() {
    if (take("(")) return group();
    if (take("[")) return of_set(bracketed());
    if (take(".")) return of_set(flags_.dot_all ? Ranges{{0, kLastCode}} : negated({{'\n', '\n'}}));
    if (take("^")) return place(flags_.lines ? RegexPlace::line_begin : RegexPlace::text_begin);
    if (take("$")) return place(flags_.lines ? RegexPlace::line_end : RegexPlace::text_end);
    if (*at_ == '*' || *at_ == '+' || *at_ == '?') fail("repeats nothing");
    if (!take("\\")) return of_code(code());
    if (!more()) fail("ends in a backslash");
    if (take("A")) return place(RegexPlace::text_begin);
    if (take("z")) return place(RegexPlace::text_end);
    if (take("b")) return place(RegexPlace::word_edge);
    if (take("B")) return place(RegexPlace::no_word_edge);
    if (take("Q")) {
      Fragment literal;
      while (more() && !take("\\E")) append(literal, of_code(code()));
      return literal;
    }
    if (take("E")) return {};
    if (auto set = class_escape()) return of_set(std::move(*set));
    return of_code(code_escape());
  }

  Fragment group() {
    const Flags outer = flags_;
    if (take("?P<") || take("?<")) {
      while (more() && *at_ != '>') ++at_;
      if (!take(">")) fail("has a group whose name does not end");
    } else if (take("?")) {
      bool value = true;
      for (;; ++at_) {
        if (!more()) fail("has a group that does not end");
        if (*at_ == '-') value = false;
        else if (*at_ == 'i') flags_.ignore_case = value;
        else if (*at_ == 'm') flags_.lines = value;
        else if (*at_ == 's') flags_.dot_all = value;
        else if (*at_ == 'U') flags_.lazy = value;
        else break;
      }
      if (take(")")) return {};  // until the end of the surrounding group
      if (!take(":")) fail("has an unknown kind of group");
    }
    const Fragment inner = alternation();
    if (!take(")")) fail("has a group that does not end");
    flags_ = outer;
    return inner;
  }

  /// \d, \S, ...
  std::optional<Ranges> class_escape() {
    if (take("d")) return digit_class();
    if (take("D")) return all_but(digit_class());
    if (take("s")) return space_class();
    if (take("S")) return all_but(space_class());
    if (take("w")) return word_class();
    if (take("W")) return all_but(word_class());
    if (*at_ == 'p' || *at_ == 'P') return unicode_escape();
    if (*at_ == 'C') unsupported("\\C");
    return std::nullopt;
  }

  /// \pN, \p{Greek}, \P{^Lu}, ...
  Ranges unicode_escape() {
    bool inverts = *at_++ == 'P';
    if (!more()) fail("ends in \\p");
    std::string_view name(at_, 1);
    if (take("{")) {
      if (take("^")) inverts = !inverts;
      const char* const begin = at_;
      while (more() && *at_ != '}') ++at_;
      name = {begin, static_cast<std::size_t>(at_ - begin)};
      if (!take("}")) fail("has a \\p{ that does not end");
    } else {
      code();
    }
    const auto set = unicode_class(name);
    if (!set) fail(fmt::format("has an unknown class \\p{{{}}}", name));
    return inverts ? all_but(*set) : *set;
  }

  /// One character after a backslash.
  int32_t code_escape() {
    static constexpr std::pair<char, char> kControls[] = {{'a', '\a'}, {'f', '\f'}, {'n', '\n'}, {'r', '\r'}, {'t', '\t'}, {'v', '\v'}};
    for (const auto& [letter, control] : kControls) {
      if (take(std::string_view(&letter, 1))) return control;
    }
    const auto digit = [&](int base) {
      if (!more()) return -1;
      const int v = *at_ >= '0' && *at_ <= '9'   ? *at_ - '0'
                    : *at_ >= 'a' && *at_ <= 'f' ? *at_ - 'a' + 10
                    : *at_ >= 'A' && *at_ <= 'F' ? *at_ - 'A' + 10
                                                 : 99;
      return v < base ? v : -1;
    };
    if (take("x")) {
      int32_t value = 0;
      const bool braces = take("{");
      for (int i = 0; braces ? more() && *at_ != '}' : i < 2; ++i, ++at_) {
        const int d = digit(16);
        if (d < 0 || value > kLastCode) fail("has a bad \\x");
        value = value * 16 + d;
      }
      if ((braces && !take("}")) || value > kLastCode) fail("has a bad \\x");
      return value;
    }
    if (*at_ == '0' || (*at_ >= '1' && *at_ <= '7' && end_ - at_ > 1 && at_[1] >= '0' && at_[1] <= '7')) {
      int32_t value = 0;
      for (int i = 0; i < 3 && digit(8) >= 0; ++i, ++at_) value = value * 8 + (*at_ - '0');
      return value;
    }
    const char c = *at_;
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) fail(fmt::format("has an unknown escape \\{}", c));
    return code();
  }

  /// What follows a [.
  Ranges bracketed() {
    const bool negates = take("^");
    Ranges set;
    for (bool first = true; first || !take("]"); first = false) {
      if (!more()) fail("has a [ that does not end");
      if (take("[:")) {
        const bool inverts = take("^");
        const auto classes = posix_classes();
        const auto found = std::ranges::find_if(classes, [&](const NamedClass& named) { return take(std::string(named.name) + ":]"); });
        if (found == classes.end()) fail("has an unknown class [: :]");
        const Ranges add = inverts ? all_but(found->set) : found->set;
        set.insert(set.end(), add.begin(), add.end());
        continue;
      }
      int32_t low = 0;
      if (take("\\")) {
        if (!more()) fail("ends in a backslash");
        if (const auto add = class_escape()) {
          set.insert(set.end(), add->begin(), add->end());
          continue;
        }
        low = code_escape();
      } else {
        low = code();
      }
      int32_t high = low;
      if (end_ - at_ > 1 && *at_ == '-' && at_[1] != ']') {
        ++at_;
        if (take("\\")) {
          if (!more()) fail("ends in a backslash");
          high = code_escape();
        } else {
          high = code();
        }
        if (high < low) fail("has a range from more to less");
      }
      set.emplace_back(low, high);
    }
    return negates ? all_but(std::move(set)) : set;
  }

  const Node& node_;
  const char* at_;
  const char* end_;
  std::string_view pattern_;
  Flags flags_;
  int depth_ = 0;
  std::vector<int32_t> ranges_;
};

}  // namespace

RegexProgram compile_regex(const Node& node, std::string_view pattern) { return Parser(node, pattern).run(); }

}  // namespace onnxc
