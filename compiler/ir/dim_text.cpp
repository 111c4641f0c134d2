// The text form of Dims: `2*batch + 1`, `floordiv(h - 1, 2)`, `'a name of a stranger'`.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/dim_node.h"
#include "compiler/support/error.h"

namespace onnxc {
namespace {

bool needs_parentheses(Dim d) { return d.kind() == Dim::Kind::Sum; }

}  // namespace

std::string text_of(Dim::Kind kind, int64_t value, const std::string& name, const std::vector<Dim>& args) {
  const auto call = [&](const char* f) { return fmt::format("{}({}, {})", f, args[0].text(), args[1].text()); };
  switch (kind) {
    case Dim::Kind::Constant: return std::to_string(value);
    case Dim::Kind::Symbol: {
      if (is_plain_symbol(name)) return name;
      std::string quoted = "'";
      for (char c : name) {
        if (c == '\'' || c == '\\') quoted += '\\';
        quoted += c;
      }
      return quoted + "'";
    }
    case Dim::Kind::Sum: {
      std::string all;
      for (Dim a : args) {
        std::string term = a.text();
        if (all.empty()) {
          all = term;
        } else if (term[0] == '-') {
          all += " - " + term.substr(1);
        } else {
          all += " + " + term;
        }
      }
      return all;
    }
    case Dim::Kind::Product: {
      std::string all = value == 1 ? "" : value == -1 ? "-" : std::to_string(value);
      for (std::size_t i = 0; i < args.size(); ++i) {
        const bool first = i == 0 && (value == 1 || value == -1);
        all += (first ? "" : "*") + (needs_parentheses(args[i]) ? "(" + args[i].text() + ")" : args[i].text());
      }
      return all;
    }
    case Dim::Kind::FloorDiv: return call("floordiv");
    case Dim::Kind::CeilDiv: return call("ceildiv");
    case Dim::Kind::Mod: return call("mod");
    case Dim::Kind::Min: return call("min");
    case Dim::Kind::Max: return call("max");
  }
  return "?";
}

bool is_plain_symbol(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (name.empty() || !letter(name[0])) return false;
  if (name == "floordiv" || name == "ceildiv" || name == "mod" || name == "min" || name == "max") return false;
  return std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '.'; });
}

namespace {

class DimParser {
 public:
  explicit DimParser(std::string_view text) : text_(text) {}
  Dim parse() {
    const Dim d = sum();
    skip();
    if (pos_ != text_.size()) fail();
    return d;
  }

 private:
  [[noreturn]] void fail() const {
    throw Error(ErrorKind::Invalid, fmt::format("'{}' is not an extent (stopped at column {})", text_, pos_ + 1));
  }
  void skip() {
    while (pos_ < text_.size() && text_[pos_] == ' ') ++pos_;
  }
  bool take(char c) {
    skip();
    if (pos_ < text_.size() && text_[pos_] == c) return ++pos_, true;
    return false;
  }
  void expect(char c) {
    if (!take(c)) fail();
  }
  Dim sum() {
    Dim d = product();
    for (;;) {
      if (take('+')) d = d + product();
      else if (take('-')) d = d - product();
      else return d;
    }
  }
  Dim product() {
    if (take('-')) return Dim(-1) * product();
    Dim d = atom();
    while (take('*')) d = d * atom();
    return d;
  }
  Dim atom() {
    if (++depth_ > 200) fail();
    const Dim d = bare_atom();
    --depth_;
    return d;
  }
  Dim bare_atom() {
    skip();
    if (pos_ >= text_.size()) fail();
    const char c = text_[pos_];
    if (take('(')) {
      const Dim d = sum();
      expect(')');
      return d;
    }
    if (take('\'')) return quoted();
    if (c >= '0' && c <= '9') return number();
    const std::size_t first = pos_;
    while (pos_ < text_.size() && (isalnum(static_cast<unsigned char>(text_[pos_])) || text_[pos_] == '_' || text_[pos_] == '.')) ++pos_;
    if (first == pos_) fail();
    const std::string_view name = text_.substr(first, pos_ - first);
    if (!take('(')) return Dim::symbol(name);
    const Dim a = sum();
    expect(',');
    const Dim b = sum();
    expect(')');
    if (name == "floordiv") return floor_div(a, b);
    if (name == "ceildiv") return ceil_div(a, b);
    if (name == "mod") return onnxc::mod(a, b);
    if (name == "min") return onnxc::min(a, b);
    if (name == "max") return onnxc::max(a, b);
    fail();
  }
  Dim quoted() {
    std::string name;
    while (pos_ < text_.size() && text_[pos_] != '\'') {
      if (text_[pos_] == '\\') ++pos_;
      if (pos_ < text_.size()) name += text_[pos_++];
    }
    expect('\'');
    return Dim::symbol(name);
  }
  Dim number() {
    int64_t v = 0;
    while (pos_ < text_.size() && text_[pos_] >= '0' && text_[pos_] <= '9') v = checked_add(checked_mul(v, 10), text_[pos_++] - '0');
    return Dim(v);
  }
  std::string_view text_;
  std::size_t pos_ = 0;
  int depth_ = 0;
};

}  // namespace

Dim parse_dim(std::string_view text) { return DimParser(text).parse(); }

}  // namespace onnxc
