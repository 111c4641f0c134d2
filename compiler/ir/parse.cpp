// parse_graph: the inverse of print_graph; see text.cpp for the grammar.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "compiler/ir/graph.h"
#include "compiler/support/text_cursor.h"

namespace onnxc {
namespace {

class GraphParser {
 public:
  explicit GraphParser(std::string_view text) : in_(text, gap) {}

  Graph parse() {
    Graph graph = parse_graph_body();
    if (!in_.skip().empty()) fail("the end");
    return graph;
  }

 private:
  [[noreturn]] void fail(std::string_view wanted) const {
    const std::string_view before = in_.text().substr(0, in_.position());
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    throw Error(ErrorKind::Invalid, fmt::format("graph text, line {}: expected {} before '{}'", line, wanted, in_.rest().substr(0, 20)));
  }
  /// White space and comments, but for the `# "name"` of a node.
  static std::size_t gap(std::string_view rest) {
    std::size_t n = 0;
    while (n < rest.size()) {
      if (isspace(static_cast<unsigned char>(rest[n]))) ++n;
      else if (rest[n] == '#' && rest.substr(n, 3) != "# \"") n = std::min(rest.find('\n', n), rest.size());
      else break;
    }
    return n;
  }
  void expect(std::string_view token) {
    if (!in_.take(token)) fail(fmt::format("'{}'", token));
  }
  std::string bare_word() {
    const auto name = in_.take_while([](char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '/'; });
    if (name.empty()) fail("a name");
    return std::string(name);
  }
  std::string quoted() {
    expect("\"");
    std::string out;
    while (!in_.rest().empty() && in_.rest()[0] != '"') {
      if (in_.rest()[0] != '\\') {
        out += in_.advance(1);
      } else if (in_.rest().starts_with("\\x")) {
        unsigned value = 0;
        const std::string_view hex = in_.advance(4).substr(2);
        std::from_chars(hex.data(), hex.data() + hex.size(), value, 16);
        out += static_cast<char>(value);
      } else {
        out += in_.advance(2).substr(1);
      }
    }
    expect("\"");
    return out;
  }
  std::string word() { return in_.peek("\"") ? quoted() : bare_word(); }
  /// The text up to the matching close, which is taken.
  std::string_view until(char open, char close) {
    const std::string_view ahead = in_.rest();
    int depth = 1;
    for (std::size_t i = 0; i < ahead.size(); ++i) {
      if (is_quote(ahead[i])) i = closing_quote(ahead, i);
      else if (ahead[i] == open) ++depth;
      else if (ahead[i] == close && --depth == 0) return in_.advance(i + 1).substr(0, i);
    }
    in_.advance(ahead.size());
    fail(std::string(1, close));
  }
  /// Names of values are quoted by one kind, names of symbols by the other.
  static bool is_quote(char c) { return c == '"' || c == '\''; }
  /// Where the name that begins at text[at] ends, or the text does.
  static std::size_t closing_quote(std::string_view text, std::size_t at) {
    std::size_t i = at + 1;
    while (i < text.size() && text[i] != text[at]) i += text[i] == '\\' ? 2 : 1;
    return std::min(i, text.size());
  }

  Type type() {
    if (in_.take("?")) return {};
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
    if (in_.take("*]")) return Type::unranked(*element);
    std::string_view list = until('[', ']');
    Extents extents;
    int depth = 0;
    std::size_t first = 0;
    for (std::size_t i = 0; i <= list.size(); ++i) {
      if (i < list.size() && is_quote(list[i])) i = closing_quote(list, i);
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
    const std::string token(
        in_.take_while([](char c) { return isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '+'; }));
    char* end = nullptr;
    const double value = std::strtod(token.c_str(), &end);
    if (token.empty() || *end != '\0') fail("a number");
    return value;
  }
  int64_t integer() {
    const std::string_view rest = in_.skip();
    int64_t value = 0;
    uint64_t large = 0;
    const bool negative = rest.starts_with('-');
    const char *first = rest.data(), *last = first + rest.size();
    const auto [end, error] = negative ? std::from_chars(first, last, value) : std::from_chars(first, last, large);
    if (error != std::errc()) fail("an integer");
    in_.advance(static_cast<std::size_t>(end - first));
    return negative ? value : static_cast<int64_t>(large);
  }
  /// Calls `one` for each of what stands between `open` and `close`, with commas between.
  template <class One>
  void each(std::string_view open, std::string_view close, One&& one) {
    expect(open);
    while (!in_.take(close)) {
      one();
      if (!in_.peek(close)) expect(",");
    }
  }
  template <class One>
  auto list(One&& one) {
    std::vector<decltype(one())> values;
    each("[", "]", [&] { values.push_back(one()); });
    return values;
  }

  Constant constant(const Type& type) {
    auto t = std::make_shared<TensorData>(TensorData::zeros(type.element, values(type.extents)));
    if (type.element == ElementType::String) {
      t->strings = list([&] { return quoted(); });
      return t;
    }
    if (in_.take("{")) {
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
    if (in_.peek("\"")) return quoted();
    if (in_.peek("f[")) {
      in_.take("f");
      std::vector<float> values;
      for (double v : list([&] { return number(); })) values.push_back(static_cast<float>(v));
      return values;
    }
    if (in_.peek("s[")) {
      in_.take("s");
      return list([&] { return quoted(); });
    }
    if (in_.peek("[")) return list([&] { return integer(); });
    if (in_.take("tensor ")) {
      const Type t = type();
      return constant(t);
    }
    if (in_.take("type ")) return type();
    in_.skip();
    const TextCursor first = in_;
    const double value = number();
    const std::string_view token = first.rest().substr(0, in_.position() - first.position());
    if (token.find_first_of(".enai") != token.npos) return static_cast<float>(value);
    in_ = first;
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
      if (in_.take("_")) return kAbsent;
      const std::string name = word();
      const auto it = scope.find(name);
      if (it == scope.end()) fail(fmt::format("a defined value instead of '{}'", name));
      return it->second;
    };
    const auto values_in_parentheses = [&] {
      std::vector<ValueId> ids;
      each("(", ")", [&] { ids.push_back(use()); });
      return ids;
    };
    each("(", ")", [&] {
      const std::string name = word();
      expect(":");
      graph.inputs.push_back(define(name, type()));
    });
    expect("->");
    std::vector<std::string> outputs;
    each("(", ")", [&] { outputs.push_back(word()); });
    expect("{");
    while (!in_.take("}")) {
      if (in_.take("const ")) {
        const std::string name = word();
        expect(":");
        const Type t = type();
        expect("=");
        graph[define(name, t)].constant = constant(t);
        continue;
      }
      Node node;
      std::vector<std::pair<std::string, Type>> results;
      if (!in_.take("()")) do {
          if (in_.take("_")) {
            results.emplace_back("", Type());
            continue;
          }
          const std::string name = word();
          expect(":");
          results.emplace_back(name, type());
        } while (in_.take(","));
      expect("=");
      const std::string full = word();
      const std::size_t dot = full.rfind('.');
      node.domain = dot == full.npos ? "" : full.substr(0, dot);
      node.op = dot == full.npos ? full : full.substr(dot + 1);
      node.version = 1000;
      node.inputs = values_in_parentheses();
      if (in_.take("@")) node.version = static_cast<int>(integer());
      if (in_.take("[")) {
        const std::string_view expression = until('[', ']');
        std::vector<ElementType> types;
        if (node.is_map()) {
          for (ValueId v : node.inputs) types.push_back(graph[v].type.element);
        } else {
          types.push_back(results.at(0).second.element);
          if (in_.peek("(")) {
            const auto operands = values_in_parentheses();
            for (ValueId v : operands) types.push_back(graph[v].type.element);
            node.inputs.insert(node.inputs.end(), operands.begin(), operands.end());
            node.epilogue_operands = static_cast<int>(operands.size());
          }
        }
        node.epilogue = parse_expr(expression, types);
      }
      if (in_.peek("{")) {
        each("{", "}", [&] {
          const std::string name = word();
          expect("=");
          node.attributes[name] = attribute();
        });
      }
      if (in_.take("binds")) node.binds = list([&] { return quoted(); });
      if (in_.take("captures")) node.captures = values_in_parentheses();
      while (!in_.rest().empty()) {
        if (in_.peek("#") || in_.peek("}") || in_.peek("const ")) break;
        const TextCursor before = in_;
        const std::string name = word();
        if (!in_.peek("graph ")) {
          in_ = before;
          break;
        }
        node.regions.emplace_back(name, std::make_shared<Graph>(parse_graph_body()));
      }
      for (auto& [name, t] : results) node.outputs.push_back(name.empty() ? kAbsent : define(name, std::move(t)));
      node.name = results.empty() ? "" : results[0].first;
      if (in_.take("# ")) {
        node.name = quoted();
        in_.advance(in_.rest().find('\n'));
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

  TextCursor in_;
  int depth_ = 0;
};

}  // namespace

Graph parse_graph(std::string_view text) { return GraphParser(text).parse(); }

}  // namespace onnxc
