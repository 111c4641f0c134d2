// The text comes from a command line, but its header and function are copied into C++, so both are checked character
// by character.
#include "compiler/ops/custom/custom_operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <regex>

#include "compiler/support/error_codes.h"

namespace onnxc {
namespace {

constexpr int kMostOperands = 64;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// Parts between `separator`s that are not in brackets.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : separator;
    depth += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
    if (c != separator || (depth > 0 && i < text.size())) continue;
    parts.push_back(trimmed(text.substr(first, i - first)));
    first = i + 1;
  }
  return parts;
}

bool matches(std::string_view text, const char* pattern) { return std::regex_match(text.begin(), text.end(), std::regex(pattern)); }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  CustomOperator parse() {
    if (text_.size() > 4096) fail("it is longer than 4096 characters");
    const std::vector<std::string_view> clauses = split(text_, ',');
    result_.text = text_;
    parse_names(clauses[0]);
    for (std::size_t i = 1; i < clauses.size(); ++i) parse_clause(clauses[i]);
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::CustomOperatorText, fmt::format("--custom-op '{}': {}", one_line(std::string(text_.substr(0, 500))), what),
                "write domain.Op=header.hpp:function, y0 = x0[x0.0, 3]; docs/custom-operators.md has the rules");
  }

  /// my.domain.Foo=foo.hpp:my::foo
  void parse_names(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == text.npos) fail("there is no '='");
    const std::string_view name = trimmed(text.substr(0, equals));
    if (!matches(name, "([A-Za-z0-9_.-]+\\.)?[A-Za-z0-9_-]+"))
      fail(fmt::format("'{}' is not the name of an operator", one_line(std::string(name))));
    const std::size_t dot = name.rfind('.');
    result_.domain = dot == name.npos ? "" : name.substr(0, dot);
    result_.op = dot == name.npos ? name : name.substr(dot + 1);
    if (result_.domain == "ai.onnx") result_.domain.clear();
    if (result_.domain == "onnxc") fail("domain 'onnxc' is the compiler's own");

    text = trimmed(text.substr(equals + 1));
    const std::size_t colon = text.find(':');
    if (colon == text.npos) fail("there is no ':' between header and function");
    std::string_view header = trimmed(text.substr(0, colon)), function = trimmed(text.substr(colon + 1));
    const bool brackets = header.size() > 2 && header.front() == '<' && header.back() == '>';
    const bool quotes = header.size() > 2 && header.front() == '"' && header.back() == '"';
    const std::string_view path = brackets || quotes ? header.substr(1, header.size() - 2) : header;
    if (!matches(path, "[A-Za-z0-9_./+ -]+") || path.find("//") != path.npos)
      fail(fmt::format(
          "'{}' is not the path of a header that #include can name: letters, digits, '_', '.', '/', '+', '-' and spaces are allowed",
          one_line(std::string(header))));
    result_.include = brackets ? fmt::format("<{}>", path) : fmt::format("\"{}\"", path);
    if (!matches(function, "(::)?[A-Za-z_][A-Za-z0-9_]*(::[A-Za-z_][A-Za-z0-9_]*)*"))
      fail(fmt::format("'{}' is not the name of a function, as my::foo is", one_line(std::string(function))));
    result_.function = (function.starts_with("::") ? "" : "::") + std::string(function);
  }

  void parse_clause(std::string_view clause) {
    const std::size_t equals = clause.find('=');
    if (equals == clause.npos)
      fail(fmt::format("'{}' is neither an output's rule (y0 = ...) nor inputs, outputs or link", one_line(std::string(clause))));
    const std::string key(trimmed(clause.substr(0, equals)));
    const std::string_view value = trimmed(clause.substr(equals + 1));
    if (key == "inputs" || key == "outputs") {
      (key == "inputs" ? result_.inputs : result_.outputs) = number(value, key);
    } else if (key == "link") {
      if (!matches(value, "[A-Za-z0-9_][A-Za-z0-9_.+-]*"))
        fail(fmt::format("'{}' is not the name of a library, as after -l", one_line(std::string(value))));
      result_.libraries.emplace_back(value);
    } else if (matches(key, "y[0-9]{1,3}")) {
      const int output = number(std::string_view(key).substr(1), "the number of an output");
      if (!result_.rules.emplace(output, rule(value)).second) fail(fmt::format("{} has two rules", key));
    } else {
      fail(fmt::format("'{}' is none of y0, y1, ..., inputs, outputs and link", one_line(key)));
    }
  }

  int number(std::string_view digits, const std::string& what) const {
    if (!matches(digits, "[0-9]{1,3}") || std::stoi(std::string(digits)) > kMostOperands)
      fail(fmt::format("{} is '{}', not a number up to {}", what, one_line(std::string(digits)), kMostOperands));
    return std::stoi(std::string(digits));
  }

  /// `x0`, `x0[...]`, `int64[...]`
  OutputRule rule(std::string_view text) const {
    OutputRule rule;
    const std::size_t bracket = text.find('[');
    const std::string type(trimmed(text.substr(0, bracket)));
    if (matches(type, "x[0-9]{1,3}")) {
      rule.like = number(std::string_view(type).substr(1), "the number of an input");
    } else {
      const auto element = element_type(type);
      if (!element) fail(fmt::format("'{}' is neither an input (x0) nor an element type (float, int64, ...)", one_line(type)));
      rule.element = *element;
      if (bracket == text.npos) fail(fmt::format("{} has no shape: {}[] is a scalar", type, type));
    }
    if (bracket == text.npos) return rule;
    if (text.back() != ']') fail(fmt::format("'{}' does not end with ']'", one_line(std::string(text))));
    rule.has_extents = true;
    const std::string_view list = trimmed(text.substr(bracket + 1, text.size() - bracket - 2));
    if (list.empty()) return rule;
    for (std::string_view item : split(list, ',')) rule.extents.push_back(extent(std::string(item)));
    return rule;
  }

  /// By ONNX's name in lower case, or by the name in the text form.
  static std::optional<ElementType> element_type(const std::string& text) {
    for (int number = 1; const auto type = element_type_numbered(number); ++number) {
      std::string name(info(*type).onnx_name);
      std::ranges::transform(name, name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
      if (text == name || text == info(*type).name) return type;
    }
    return std::nullopt;
  }

  ExtentRule extent(const std::string& text) const {
    std::smatch match;
    if (std::regex_match(text, match, std::regex("x([0-9]{1,3})\\.(-?[0-9]{1,2})?:(-?[0-9]{1,2})?"))) {
      ExtentRule slice{true, number(match.str(1), "the number of an input"), 0, INT32_MAX};
      if (match[2].matched) slice.first = std::stoi(match.str(2));
      if (match[3].matched) slice.last = std::stoi(match.str(3));
      return slice;
    }
    // Names that an expression of Dims can contain.
    std::string expression = std::regex_replace(text, std::regex("\\bx([0-9]{1,3})\\.-([0-9]{1,2})\\b"), "x$1.m$2");
    expression = std::regex_replace(expression, std::regex("\\bx([0-9]{1,3})\\[([0-9]{1,3})\\]"), "x$1.e$2");
    try {
      ExtentRule rule{.expression = parse_dim(expression)};
      std::map<std::string, Dim> symbols;
      rule.expression.collect_symbols(symbols);
      for (const auto& [name, dim] : symbols) {
        if (!matches(name, "x[0-9]{1,3}\\.(m?[0-9]{1,2}|e[0-9]{1,3}|count)"))
          fail(fmt::format("in the extent '{}', '{}' is none of x0.1, x0.count and x0[1]", one_line(text), one_line(name)));
      }
      return rule;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::Usage) throw;
      fail(fmt::format("'{}' is not an extent", one_line(text)));
    }
  }

  std::string_view text_;
  CustomOperator result_;
};

}  // namespace

CustomOperator parse_custom_operator(std::string_view text) { return Parser(trimmed(text)).parse(); }

void take_custom_operators(Graph& graph, const std::vector<CustomOperator>& operators) {
  for_each_graph(graph, [&](Graph& g) {
    for (Node& node : g.nodes) {
      for (const CustomOperator& custom : operators) {
        if (node.domain != custom.domain || node.op != custom.op) continue;
        node.domain = fmt::format("{}{}", kCustomDomain, custom.domain.empty() ? "ai.onnx" : custom.domain);
        node.attributes[kCustomText] = custom.text;
        node.version = 1000;
      }
    }
  });
}

}  // namespace onnxc
