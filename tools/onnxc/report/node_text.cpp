#include "tools/onnxc/report/node_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace onnxc {
namespace {

constexpr std::size_t kMostElements = 12, kMostText = 120, kMostInputs = 8, kMostFunctions = 24;

template <class List, class One>
std::string list_text(const List& values, One&& one, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(values.size(), most); ++i) text += (i == 0 ? "" : ", ") + one(values[i]);
  if (values.size() > most) text += fmt::format(", and {} more", values.size() - most);
  return text;
}

std::string quoted(const std::string& text) {
  return fmt::format("\"{}{}\"", text.substr(0, kMostText), text.size() > kMostText ? "..." : "");
}

std::string text_of(const Attribute& attribute) {
  struct Visitor {
    std::string operator()(int64_t v) const { return fmt::format("{}", v); }
    std::string operator()(float v) const { return fmt::format("{}", v); }
    std::string operator()(const std::string& v) const { return quoted(v); }
    std::string operator()(const std::vector<int64_t>& v) const {
      return '[' + list_text(v, [](int64_t i) { return fmt::format("{}", i); }, kMostElements) + ']';
    }
    std::string operator()(const std::vector<float>& v) const {
      return '[' + list_text(v, [](float f) { return fmt::format("{}", f); }, kMostElements) + ']';
    }
    std::string operator()(const std::vector<std::string>& v) const { return '[' + list_text(v, quoted, kMostElements) + ']'; }
    std::string operator()(const Constant& v) const { return Type::tensor(v->type, to_extents(v->shape)).text(); }
    std::string operator()(const Type& v) const { return v.text(); }
  };
  return std::visit(Visitor{}, attribute);
}

/// The functions in the order of evaluation. The whole expression can be exponentially longer than the number of its
/// terms.
std::string functions_text(const Expr& expr) {
  std::vector<std::string> names;
  for (const Expr::Term& term : expr.terms) {
    if (term.kind == Expr::Kind::Apply) names.emplace_back(info(term.fn).name);
  }
  return list_text(names, [](const std::string& name) { return name; }, kMostFunctions);
}

}  // namespace

std::string attributes_text(const Node& node) {
  std::string text;
  for (const auto& [name, value] : node.attributes) text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, text_of(value));
  return text;
}

std::string node_text(const Graph& graph, const Node& node) {
  const auto name = [&](ValueId v) { return v == kAbsent ? std::string("_") : graph[v].name; };
  std::string text = fmt::format("{}({})", node.full_op(), list_text(node.inputs, name, kMostInputs));
  if (!node.attributes.empty()) text += fmt::format(" {{{}}}", attributes_text(node));
  if (node.epilogue) text += fmt::format(" {} {}", node.is_map() ? "=" : "+", functions_text(*node.epilogue));
  return text;
}

}  // namespace onnxc
