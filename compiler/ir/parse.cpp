// parse_graph: the inverse of print_graph; see text.cpp for the grammar.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>

#include "compiler/ir/graph.h"

namespace onnxc {
namespace {

class GraphParser {
 public:
  explicit GraphParser(std::string_view text) : text_(text) {}

  Graph parse() {
    Graph graph = parse_graph_body();
    skip();
    if (pos_ != text_.size()) fail("the end");
    return graph;
  }

 private:
  [[noreturn]] void fail(std::string_view wanted) const {
    int line = 1;
    for (std::size_t i = 0; i < pos_ && i < text_.size(); ++i) line += text_[i] == '\n';
    throw Error(ErrorKind::Invalid, fmt::format("graph text, line {}: expected {} before '{}'", line, wanted, text_.substr(pos_, 20)));
  }
  /// White space and comments, but for the `# "name"` of a node.
  void skip() {
    while (pos_ < text_.size()) {
      if (isspace(static_cast<unsigned char>(text_[pos_]))) ++pos_;
      else if (text_[pos_] == '#' && text_.substr(pos_, 3) != "# \"") skip_line();
      else break;
    }
  }
  void skip_line() {
    while (pos_ < text_.size() && text_[pos_] != '\n') ++pos_;
  }
  bool peek(std::string_view token) {
    skip();
    return text_.substr(pos_, token.size()) == token;
  }
  bool take(std::string_view token) {
    if (!peek(token)) return false;
    pos_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) fail(fmt::format("'{}'", token));
  }
  static bool is_word_char(char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '/'; }
  std::string bare_word() {
    skip();
    const std::size_t first = pos_;
    while (pos_ < text_.size() && is_word_char(text_[pos_])) ++pos_;
    if (first == pos_) fail("a name");
    return std::string(text_.substr(first, pos_ - first));
  }
  std::string quoted() {
    expect("\"");
    std::string out;
    while (pos_ < text_.size() && text_[pos_] != '"') {
      if (text_[pos_] != '\\') {
        out += text_[pos_++];
      } else if (text_.substr(pos_, 2) == "\\x") {
        unsigned value = 0;
        std::from_chars(text_.data() + pos_ + 2, text_.data() + std::min(pos_ + 4, text_.size()), value, 16);
        out += static_cast<char>(value);
        pos_ += 4;
      } else {
        out += text_[pos_ + 1];
        pos_ += 2;
      }
    }
    expect("\"");
    return out;
  }
  std::string word() { return peek("\"") ? quoted() : bare_word(); }
  /// The text up to the matching close, which is taken.
  std::string_view until(char open, char close) {
    const std::size_t first = pos_;
    int depth = 1;
    for (bool in_string = false; pos_ < text_.size(); ++pos_) {
      const char c = text_[pos_];
      if (c == '"') in_string = !in_string;
      if (in_string) continue;
      if (c == open) ++depth;
      if (c == close && --depth == 0) return text_.substr(first, pos_++ - first);
    }
    fail(std::string(1, close));
  }

  Type type() {
    if (take("?")) return {};
    const std::string name = bare_word();
    if (name == "seq" || name == "optional") {
      expect("(");
      Type inner = type();
      expect(")");
      return name == "seq" ? Type::sequence(std::move(inner)) : Type::optional(std::move(inner));
    }
    const auto element = element_type_named(name);
    if (!element) fail("an element type");
    expect("[");
    if (take("*]")) return Type::unranked(*element);
    std::string_view list = until('[', ']');
    Extents extents;
    int depth = 0;
    std::size_t first = 0;
    for (std::size_t i = 0; i <= list.size(); ++i) {
      if (i < list.size() && list[i] == '(') ++depth;
      if (i < list.size() && list[i] == ')') --depth;
      if (i == list.size() || (list[i] == ',' && depth == 0)) {
        const std::string_view one = list.substr(first, i - first);
        if (one.find_first_not_of(' ') != one.npos) extents.push_back(parse_dim(one.substr(one.find_first_not_of(' '))));
        first = i + 1;
      }
    }
    return Type::tensor(*element, std::move(extents));
  }

  double number() {
    skip();
    const std::size_t first = pos_;
    while (pos_ < text_.size() && (isalnum(static_cast<unsigned char>(text_[pos_])) || text_[pos_] == '.' || text_[pos_] == '-' || text_[pos_] == '+')) ++pos_;
    const std::string token(text_.substr(first, pos_ - first));
    char* end = nullptr;
    const double value = std::strtod(token.c_str(), &end);
    if (token.empty() || *end != '\0') fail("a number");
    return value;
  }
  int64_t integer() {
    skip();
    int64_t value = 0;
    const bool unsigned_value = pos_ < text_.size() && text_[pos_] != '-';
    uint64_t large = 0;
    const auto [end, error] = unsigned_value ? std::from_chars(text_.data() + pos_, text_.data() + text_.size(), large) : std::from_chars(text_.data() + pos_, text_.data() + text_.size(), value);
    if (error != std::errc()) fail("an integer");
    pos_ = static_cast<std::size_t>(end - text_.data());
    return unsigned_value ? static_cast<int64_t>(large) : value;
  }
  template <class One>
  auto list(One&& one) {
    std::vector<decltype(one())> values;
    expect("[");
    while (!take("]")) {
      values.push_back(one());
      if (!peek("]")) expect(",");
    }
    return values;
  }

  Constant constant(const Type& type) {
    auto t = std::make_shared<TensorData>(TensorData::zeros(type.element, values(type.extents)));
    if (type.element == ElementType::String) {
      t->strings = list([&] { return quoted(); });
      return t;
    }
    if (take("{")) {
      const std::string_view hex = until('{', '}');
      if (hex.size() != 2 * t->bytes.size()) fail("as many bytes as the type has");
      for (std::size_t i = 0; i < t->bytes.size(); ++i) {
        unsigned byte = 0;
        std::from_chars(hex.data() + 2 * i, hex.data() + 2 * i + 2, byte, 16);
        t->bytes[i] = static_cast<std::byte>(byte);
      }
      return t;
    }
    const auto width = static_cast<std::size_t>(info(type.element).bits / 8);
    std::vector<uint64_t> bits;
    if (is_integer(type.element)) {
      for (int64_t v : list([&] { return integer(); })) bits.push_back(static_cast<uint64_t>(v));
    } else {
      for (double v : list([&] { return number(); })) bits.push_back(to_bits(type.element, v));
    }
    if (bits.size() * width != t->bytes.size()) fail("as many elements as the type has");
    for (std::size_t i = 0; i < bits.size(); ++i) std::memcpy(t->bytes.data() + i * width, &bits[i], width);
    return t;
  }

  Attribute attribute() {
    if (peek("\"")) return quoted();
    if (take("f[")) {
      --pos_;
      std::vector<float> values;
      for (double v : list([&] { return number(); })) values.push_back(static_cast<float>(v));
      return values;
    }
    if (take("s[")) {
      --pos_;
      return list([&] { return quoted(); });
    }
    if (peek("[")) return list([&] { return integer(); });
    if (take("tensor ")) {
      const Type t = type();
      return constant(t);
    }
    if (take("type ")) return type();
    skip();
    const std::size_t first = pos_;
    const double value = number();
    const std::string_view token = text_.substr(first, pos_ - first);
    if (token.find_first_of(".enai") != token.npos) return static_cast<float>(value);
    pos_ = first;
    return integer();
  }

  Graph parse_graph_body() {
    if (++depth_ > 64) fail("less nesting");
    expect("graph");
    Graph graph;
    graph.name = quoted();
    std::map<std::string, ValueId> scope;
    const auto define = [&](const std::string& name, Type t) {
      if (!scope.emplace(name, static_cast<ValueId>(graph.values.size())).second) fail("a name that is not defined yet");
      graph.values.push_back({name, std::move(t), nullptr, std::nullopt});
      return scope.at(name);
    };
    const auto use = [&] {
      if (take("_")) return kAbsent;
      const std::string name = word();
      const auto it = scope.find(name);
      if (it == scope.end()) fail(fmt::format("a defined value instead of '{}'", name));
      return it->second;
    };
    const auto values_in_parentheses = [&] {
      std::vector<ValueId> ids;
      expect("(");
      while (!take(")")) {
        ids.push_back(use());
        if (!peek(")")) expect(",");
      }
      return ids;
    };
    expect("(");
    while (!take(")")) {
      const std::string name = word();
      expect(":");
      graph.inputs.push_back(define(name, type()));
      if (!peek(")")) expect(",");
    }
    expect("->");
    expect("(");
    std::vector<std::string> outputs;
    while (!take(")")) {
      outputs.push_back(word());
      if (!peek(")")) expect(",");
    }
    expect("{");
    while (!take("}")) {
      if (take("const ")) {
        const std::string name = word();
        expect(":");
        const Type t = type();
        expect("=");
        graph[define(name, t)].constant = constant(t);
        continue;
      }
      Node node;
      std::vector<std::pair<std::string, Type>> results;
      if (!take("()")) do {
        if (take("_")) {
          results.emplace_back("", Type());
          continue;
        }
        const std::string name = word();
        expect(":");
        results.emplace_back(name, type());
      } while (take(","));
      expect("=");
      const std::string full = word();
      const std::size_t dot = full.rfind('.');
      node.domain = dot == full.npos ? "" : full.substr(0, dot);
      node.op = dot == full.npos ? full : full.substr(dot + 1);
      node.version = 1000;
      node.inputs = values_in_parentheses();
      if (take("@")) node.version = static_cast<int>(integer());
      if (take("[")) {
        const std::string_view expression = until('[', ']');
        std::vector<ElementType> types;
        if (node.is_map()) {
          for (ValueId v : node.inputs) types.push_back(graph[v].type.element);
        } else {
          types.push_back(results.at(0).second.element);
          if (peek("(")) {
            const auto operands = values_in_parentheses();
            for (ValueId v : operands) types.push_back(graph[v].type.element);
            node.inputs.insert(node.inputs.end(), operands.begin(), operands.end());
            node.epilogue_operands = static_cast<int>(operands.size());
          }
        }
        node.epilogue = parse_expr(expression, types);
      }
      if (take("{")) {
        while (!take("}")) {
          const std::string name = word();
          expect("=");
          node.attributes[name] = attribute();
          if (!peek("}")) expect(",");
        }
      }
      if (take("binds")) node.binds = list([&] { return quoted(); });
      if (take("captures")) node.captures = values_in_parentheses();
      while (pos_ < text_.size()) {
        skip();
        if (peek("#") || peek("}") || peek("const ")) break;
        const std::size_t before = pos_;
        const std::string name = word();
        if (!peek("graph ")) {
          pos_ = before;
          break;
        }
        node.regions.emplace_back(name, std::make_shared<Graph>(parse_graph_body()));
      }
      for (auto& [name, t] : results) node.outputs.push_back(name.empty() ? kAbsent : define(name, std::move(t)));
      node.name = results.empty() ? "" : results[0].first;
      if (take("# ")) {
        node.name = quoted();
        skip_line();
      }
      graph.nodes.push_back(std::move(node));
    }
    for (const auto& name : outputs) {
      const auto it = scope.find(name);
      if (it == scope.end()) fail(fmt::format("a definition of output '{}'", name));
      graph.outputs.push_back(it->second);
    }
    --depth_;
    return graph;
  }

  std::string_view text_;
  std::size_t pos_ = 0;
  int depth_ = 0;
};

}  // namespace

Graph parse_graph(std::string_view text) { return GraphParser(text).parse(); }

}  // namespace onnxc
