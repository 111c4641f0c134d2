// Expressions as text, and back.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>

#include "compiler/ir/expr.h"
#include "compiler/support/text_cursor.h"

namespace onnxc {
namespace {

std::string constant_text(ElementType type, uint64_t bits) {
  if (is_integer(type) && is_signed(type)) {
    const int width = info(type).bits;
    if (width < 64 && (bits >> (width - 1)) != 0) bits |= ~uint64_t{0} << width;
    return fmt::format("{}({})", name(type), static_cast<int64_t>(bits));
  }
  if (is_integer(type) || type == ElementType::Bool) return fmt::format("{}({})", name(type), bits);
  const double v = from_bits(type, bits);
  // The shortest text that gives the same bits. NaNs keep theirs.
  return std::isnan(v) ? fmt::format("{}(bits {:#x})", name(type), bits) : fmt::format("{}({})", name(type), v);
}

std::string term_text(const Expr& e, int index, const std::map<int, std::string>& shared) {
  if (const auto it = shared.find(index); it != shared.end()) return it->second;
  const Expr::Term& t = e.terms[static_cast<std::size_t>(index)];
  if (t.kind == Expr::Kind::Input) return fmt::format("x{}", t.args[0]);
  if (t.kind == Expr::Kind::Constant) return constant_text(t.type, t.bits);
  std::string list;
  for (int a : t.args) {
    if (a >= 0) list += (list.empty() ? "" : ", ") + term_text(e, a, shared);
  }
  if (names_type(t.fn)) return fmt::format("{}<{}>({})", info(t.fn).name, name(t.type), list);
  return fmt::format("{}({})", info(t.fn).name, list);
}

}  // namespace

std::string Expr::text() const {
  if (terms.empty()) return "";
  // Terms used more than once are named first: `t0 = exp(x0); div(t0, add(t0, f32(1)))`.
  std::vector<int> uses(terms.size(), 0);
  for (const Term& t : terms) {
    if (t.kind != Kind::Apply) continue;
    for (int a : t.args) {
      if (a >= 0) ++uses[static_cast<std::size_t>(a)];
    }
  }
  std::string all;
  std::map<int, std::string> shared;
  for (std::size_t i = 0; i + 1 < terms.size(); ++i) {
    if (terms[i].kind != Kind::Apply || uses[i] < 2) continue;
    const std::string t = fmt::format("t{}", shared.size());
    all += fmt::format("{} = {}; ", t, term_text(*this, static_cast<int>(i), shared));
    shared[static_cast<int>(i)] = t;
  }
  return all + term_text(*this, static_cast<int>(terms.size()) - 1, shared);
}

namespace {

class ExprParser {
 public:
  ExprParser(std::string_view text, const std::vector<ElementType>& inputs) : in_(text), inputs_(inputs) {}
  Expr parse() {
    TextCursor start = in_;
    for (std::string word; (word = identifier()).starts_with('t') && in_.take("="); start = in_) {
      named_[word] = term();
      expect(";");
    }
    in_ = start;
    const int root = term();
    if (!in_.skip().empty()) fail("the end");
    expr_.finish(root);
    return expr_;
  }

 private:
  [[noreturn]] void fail(std::string_view wanted) const {
    throw Error(ErrorKind::Invalid, fmt::format("expression '{}': expected {} at column {}", in_.text(), wanted, in_.position() + 1));
  }
  void expect(std::string_view token) {
    if (!in_.take(token)) fail(token);
  }
  std::string identifier() {
    return std::string(in_.take_while([](char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_'; }));
  }
  int term() {
    if (++depth_ > 10000) fail("a smaller expression");
    const std::string word = identifier();
    if (word.empty()) fail("a term");
    if (const auto it = named_.find(word); it != named_.end()) return it->second;
    if (word[0] == 'x' && word.size() > 1 && isdigit(static_cast<unsigned char>(word[1]))) {
      const auto number = static_cast<std::size_t>(std::atoi(word.c_str() + 1));
      if (number >= inputs_.size()) fail("an input that the node has");
      return expr_.input(static_cast<int>(number), inputs_[number]);
    }
    if (const auto fn = cast_named(word)) {
      expect("<");
      const auto type = element_type_named(identifier());
      if (!type) fail("an element type");
      expect(">");
      expect("(");
      const int a = term();
      expect(")");
      return expr_.cast(*type, a, *fn);
    }
    if (const auto type = element_type_named(word)) return constant(*type);
    expect("(");
    int args[3] = {-1, -1, -1};
    int n = 0;
    do {
      if (n == 3) fail("at most three operands");
      args[n++] = term();
    } while (in_.take(","));
    expect(")");
    for (int i = 0; i < static_cast<int>(Fn::Cast); ++i) {
      const auto fn = static_cast<Fn>(i);
      if (word == info(fn).name && info(fn).arity == n) return expr_.apply(fn, args[0], args[1], args[2]);
    }
    fail("a function");
  }
  static std::optional<Fn> cast_named(std::string_view word) {
    for (int i = static_cast<int>(Fn::Cast); i <= static_cast<int>(Fn::CastSpecialNearest); ++i) {
      if (word == info(static_cast<Fn>(i)).name) return static_cast<Fn>(i);
    }
    return std::nullopt;
  }
  int constant(ElementType type) {
    expect("(");
    const std::size_t end = in_.skip().find(')');
    if (end == std::string_view::npos) fail(")");
    const std::string body(in_.advance(end));
    expect(")");
    if (body.rfind("bits ", 0) == 0) return expr_.constant_bits(type, std::strtoull(body.c_str() + 5, nullptr, 16));
    if (is_float(type)) return expr_.constant(type, std::strtod(body.c_str(), nullptr));
    const int bits = info(type).bits;
    const uint64_t mask = bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
    const uint64_t value =
        body[0] == '-' ? static_cast<uint64_t>(std::strtoll(body.c_str(), nullptr, 10)) : std::strtoull(body.c_str(), nullptr, 10);
    return expr_.constant_bits(type, value & mask);
  }
  TextCursor in_;
  const std::vector<ElementType>& inputs_;
  int depth_ = 0;
  std::map<std::string, int> named_;
  Expr expr_;
};

}  // namespace

Expr parse_expr(std::string_view text, const std::vector<ElementType>& input_types) { return ExprParser(text, input_types).parse(); }

}  // namespace onnxc
