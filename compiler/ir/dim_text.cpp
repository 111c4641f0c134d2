// The text form of Dims: `2*batch + 1`, `floordiv(h - 1, 2)`, `'a name of a stranger'`.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/dim_node.h"
#include "compiler/support/error.h"
#include "compiler/support/text_cursor.h"

namespace onnxc {
namespace {

bool needs_parentheses(Dim d) { return d.kind() == Dim::Kind::Sum; }

}  // namespace

std::string text_of(Dim::Kind kind, int64_t value, const std::string& name, const std::vector<Dim>& args) {
  const auto call = [&](const char* f) { return fmt::format("{}({}, {})", f, args[0].text(), args[1].text()); };
  switch (kind) {
    case Dim::Kind::Constant: return std::to_string(value);
    case Dim::Kind::Symbol: {
      if (is_unquoted_symbol(name)) return name;
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
    case Dim::Kind::Broadcast: {  // of all extents that meet
      std::vector<Dim> met;
      for (Dim a : args) collect_broadcast(a, met);
      std::string all;
      for (Dim d : met) all += (all.empty() ? "" : ", ") + d.text();
      return "broadcast(" + all + ")";
    }
  }
  return "?";
}

bool is_unquoted_symbol(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (name.empty() || !letter(name[0])) return false;
  if (name == "floordiv" || name == "ceildiv" || name == "mod" || name == "min" || name == "max" || name == "broadcast") return false;
  return std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '.'; });
}

namespace {

class DimParser {
 public:
  explicit DimParser(std::string_view text) : in_(text) {}
  Dim parse() {
    const Dim d = sum();
    if (!in_.skip().empty()) fail();
    return d;
  }

 private:
  [[noreturn]] void fail() const {
    throw Error(ErrorKind::Invalid, fmt::format("'{}' is not an extent (stopped at column {})", in_.text(), in_.position() + 1));
  }
  void expect(std::string_view token) {
    if (!in_.take(token)) fail();
  }
  Dim sum() {
    Dim d = product();
    for (;;) {
      if (in_.take("+")) d = d + product();
      else if (in_.take("-")) d = d - product();
      else return d;
    }
  }
  Dim product() {
    if (in_.take("-")) return Dim(-1) * product();
    Dim d = atom();
    while (in_.take("*")) d = d * atom();
    return d;
  }
  Dim atom() {
    if (++depth_ > 200) fail();
    const Dim d = bare_atom();
    --depth_;
    return d;
  }
  Dim bare_atom() {
    if (in_.take("(")) {
      const Dim d = sum();
      expect(")");
      return d;
    }
    if (in_.take("'")) return quoted();
    if (const auto digits = in_.take_while([](char c) { return c >= '0' && c <= '9'; }); !digits.empty()) {
      int64_t v = 0;
      for (char c : digits) v = checked_add(checked_mul(v, 10), c - '0');
      return Dim(v);
    }
    const auto name = in_.take_while([](char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; });
    if (name.empty()) fail();
    if (!in_.take("(")) return Dim::symbol(name);
    const Dim a = sum();
    expect(",");
    Dim b = sum();
    while (name == "broadcast" && in_.take(",")) b = onnxc::broadcast(b, sum());
    expect(")");
    if (name == "floordiv") return floor_div(a, b);
    if (name == "ceildiv") return ceil_div(a, b);
    if (name == "mod") return onnxc::mod(a, b);
    if (name == "min") return onnxc::min(a, b);
    if (name == "max") return onnxc::max(a, b);
    if (name == "broadcast") return onnxc::broadcast(a, b);
    fail();
  }
  Dim quoted() {
    std::string name;
    while (!in_.rest().empty() && in_.rest()[0] != '\'') {
      if (in_.rest()[0] == '\\') in_.advance(1);
      name += in_.advance(1);
    }
    expect("'");
    return Dim::symbol(name);
  }
  TextCursor in_;
  int depth_ = 0;
};

}  // namespace

Dim parse_dim(std::string_view text) { return DimParser(text).parse(); }

}  // namespace onnxc
