#include "codegen/requirements.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/names.h"

namespace onnxc {
namespace {

constexpr std::size_t kLongestText = 300;

/// The placeholder for the value of an extent in a status' text: see onnxc::Status.
std::string found(Dim d) { return d.is_constant() ? d.text() : fmt::format("{} = \1", comment_text(d.text(), 80)); }

std::string statement(const std::string& violated, const std::string& who, const std::string& message,
                      const std::vector<std::string>& values) {
  std::string list;
  for (const std::string& value : values) list += (list.empty() ? "" : ", ") + value;
  return fmt::format("if ({}) return {{ONNXC_BAD_DIMENSION, {}, {{{}}}}};\n", violated,
                     string_literal(comment_text(who, kLongestText) + (who.empty() ? "" : ": ") + message), list);
}

}  // namespace

std::string requirement_check(const Requirement& r, const SymbolNames& symbols) {
  std::string a = cpp_dim(r.a, symbols), b = cpp_dim(r.b, symbols);
  // Expressions that occur several times in the check are computed first, under names that no symbol has.
  std::string first;
  const auto name_once = [&](Dim d, std::string& text, const char* name) {
    if (d.is_constant() || d.is_symbol()) return;
    first += fmt::format("{}{} = {}", first.empty() ? "const std::int64_t " : ", ", name, text);
    text = name;
  };
  if (r.kind == Requirement::Kind::OneOrEqual || r.kind == Requirement::Kind::Broadcast) {
    name_once(r.a, a, "extent");
    name_once(r.b, b, "other");
    if (!first.empty()) first += "; ";
  }
  std::vector<std::string> values;
  if (!r.a.is_constant()) values.push_back(a);
  if (!r.b.is_constant()) values.push_back(b);
  switch (r.kind) {
    case Requirement::Kind::Equal:
      return statement(fmt::format("{} != {}", a, b), r.who, fmt::format("{} must equal {}", found(r.a), found(r.b)), values);
    case Requirement::Kind::OneOrEqual:
      return statement(fmt::format("{2}{0} != 1 && {0} != {1}", a, b, first), r.who,
                       fmt::format("{} must be 1 or equal {}", found(r.a), found(r.b)), values);
    case Requirement::Kind::Broadcast:
      return statement(fmt::format("{2}{0} != {1} && {0} != 1 && {1} != 1", a, b, first), r.who,
                       fmt::format("{} must equal {}, or one of them be 1", found(r.a), found(r.b)), values);
    case Requirement::Kind::Differ:
      return statement(fmt::format("{} == {}", a, b), r.who, fmt::format("{} must not be {}", found(r.a), found(r.b)), values);
    case Requirement::Kind::NotNegative:
      return statement(fmt::format("{} < 0", a), r.who, fmt::format("{} must not be negative", found(r.a)), {a});
  }
  return "";
}

std::string equality_text(Dim a, Dim b, const SymbolNames& symbols) {
  return fmt::format("{} == {}", cpp_dim(a, symbols), cpp_dim(b, symbols));
}

std::vector<Requirement> requirements_of_dims(const std::vector<Requirement>& requirements, const Interface& interface) {
  std::vector<Requirement> kept;
  for (const Requirement& r : requirements) {
    std::map<std::string, Dim> used;
    r.a.collect_symbols(used);
    r.b.collect_symbols(used);
    const bool known = std::ranges::all_of(used, [&](const auto& symbol) { return interface.symbol_members.contains(symbol.first); });
    if (!used.empty() && known && std::ranges::find(kept, r) == kept.end()) kept.push_back(r);
  }
  return kept;
}

std::string bounds_check(Dim symbol, int64_t most, const SymbolNames& symbols) {
  const std::string name = symbols.at(symbol.name());
  const bool bounded = most != INT64_MAX;
  return statement(
      fmt::format("{} < {}{}", name, symbol.min_value(), bounded ? fmt::format(" || {} > {}", name, most) : ""), "",
      fmt::format("{} must be at least {}{}", found(symbol), symbol.min_value(), bounded ? fmt::format(" and at most {}", most) : ""),
      {name});
}

std::string violation(const std::string& violated, const std::string& must, const std::vector<Dim>& shown, const SymbolNames& symbols) {
  std::string text = comment_text(must, kLongestText);
  std::vector<std::string> values;
  for (Dim d : shown) {
    text += (values.empty() ? "; " : ", ") + found(d);
    values.push_back(cpp_dim(d, symbols));
  }
  return statement(violated, "", text, values);
}

}  // namespace onnxc
