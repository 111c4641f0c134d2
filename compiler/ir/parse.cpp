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
  /// White space and comments, except the `# "name"` of a node.
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
  /// The text up to the matching `close`, which is consumed.
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
  /// Names of values have one kind of quotes, names of symbols the other.
  static bool is_quote(char c) { return c == '"' || c == '\''; }
  /// The end of the name that begins at text[at], or of the text.
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
  /// Calls `one` for each of the comma-separated items between `open` and `close`.
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
    // Each element takes a character at least, so a type that says more needs no memory.
    int64_t most = static_cast<int64_t>(in_.rest().size());
    for (Dim extent : type.extents) {
      if (!extent.is_constant()) fail("a constant of constant extents");
      if (extent.value() != 0 && (most /= extent.value()) == 0) fail("as many elements as the type has");
    }
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

  /// An unfinished graph, and its values by name.
  struct Body {
    Graph graph;
    std::map<std::string, ValueId> scope{};
  };
  using Results = std::vector<std::pair<std::string, Type>>;

  ValueId define(Body& body, const std::string& name, Type t) {
    if (!body.scope.emplace(name, static_cast<ValueId>(body.graph.values.size())).second) fail("a name that is not defined yet");
    body.graph.values.push_back({name, std::move(t), nullptr, std::nullopt});
    return body.scope.at(name);
  }
  ValueId value_of(const Body& body, const std::string& name) {
    const auto it = body.scope.find(name);
    if (it == body.scope.end()) fail(fmt::format("a defined value instead of '{}'", name));
    return it->second;
  }
  std::vector<ValueId> values_in_parentheses(const Body& body) {
    std::vector<ValueId> ids;
    each("(", ")", [&] { ids.push_back(in_.take("_") ? kAbsent : value_of(body, word())); });
    return ids;
  }

  Results results() {
    Results list;
    if (in_.take("()")) return list;
    do {
      if (in_.take("_")) {
        list.emplace_back("", Type());
        continue;
      }
      const std::string name = word();
      expect(":");
      list.emplace_back(name, type());
    } while (in_.take(","));
    return list;
  }

  /// Parses the expression of a Map, or an epilogue with its operands.
  void parse_expression(const Body& body, Node& node, ElementType first_result) {
    const std::string_view expression = until('[', ']');
    const auto element_of = [&](ValueId v) { return body.graph[v].type.element; };
    std::vector<ElementType> types;
    if (node.is_map()) {
      for (ValueId v : node.inputs) types.push_back(element_of(v));
    } else {
      types.push_back(first_result);
      if (in_.peek("(")) {
        const auto operands = values_in_parentheses(body);
        for (ValueId v : operands) types.push_back(element_of(v));
        node.inputs.insert(node.inputs.end(), operands.begin(), operands.end());
        node.epilogue_operands = static_cast<int>(operands.size());
      }
    }
    node.epilogue = parse_expr(expression, types);
  }

  void parse_regions(Node& node) {
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
  }

  void parse_node(Body& body) {
    Node node;
    Results list = results();
    expect("=");
    const std::string full = word();
    const std::size_t dot = full.rfind('.');
    node.domain = dot == full.npos ? "" : full.substr(0, dot);
    node.op = dot == full.npos ? full : full.substr(dot + 1);
    node.version = 1000;
    node.inputs = values_in_parentheses(body);
    if (in_.take("@")) node.version = static_cast<int>(integer());
    if (in_.take("[")) parse_expression(body, node, list.empty() ? ElementType::Undefined : list[0].second.element);
    if (in_.peek("{")) {
      each("{", "}", [&] {
        const std::string name = word();
        expect("=");
        node.attributes[name] = attribute();
      });
    }
    if (in_.take("binds")) node.binds = this->list([&] { return quoted(); });
    if (in_.take("captures")) node.captures = values_in_parentheses(body);
    parse_regions(node);
    for (auto& [name, t] : list) node.outputs.push_back(name.empty() ? kAbsent : define(body, name, std::move(t)));
    node.name = list.empty() ? "" : list[0].first;
    if (in_.take("# ")) {
      node.name = quoted();
      in_.advance(in_.rest().find('\n'));
    }
    body.graph.nodes.push_back(std::move(node));
  }

  void parse_constant(Body& body) {
    const std::string name = word();
    expect(":");
    const Type t = type();
    expect("=");
    body.graph[define(body, name, t)].constant = constant(t);
  }

  /// `states (past -> present, ...)`, by the names of inputs and outputs.
  std::vector<State> parse_states(const Body& body, const std::vector<std::string>& outputs) {
    std::vector<State> states;
    if (!in_.take("states")) return states;
    each("(", ")", [&] {
      const auto past = std::ranges::find(body.graph.inputs, value_of(body, word()));
      expect("->");
      const auto present = std::ranges::find(outputs, word());
      if (past == body.graph.inputs.end() || present == outputs.end()) fail("an input and an output");
      states.push_back({static_cast<int>(past - body.graph.inputs.begin()), static_cast<int>(present - outputs.begin())});
    });
    return states;
  }

  Graph parse_graph_body() {
    if (++depth_ > 64) fail("less nesting");
    expect("graph");
    Body body;
    body.graph.name = quoted();
    each("(", ")", [&] {
      const std::string name = word();
      expect(":");
      body.graph.inputs.push_back(define(body, name, type()));
    });
    expect("->");
    std::vector<std::string> outputs;
    each("(", ")", [&] { outputs.push_back(word()); });
    body.graph.states = parse_states(body, outputs);
    expect("{");
    while (!in_.take("}")) {
      if (in_.take("const ")) parse_constant(body);
      else parse_node(body);
    }
    for (const auto& name : outputs) {
      const auto it = body.scope.find(name);
      if (it == body.scope.end()) fail(fmt::format("a definition of output '{}'", name));
      body.graph.outputs.push_back(it->second);
    }
    --depth_;
    return std::move(body.graph);
  }

  TextCursor in_;
  int depth_ = 0;
};

}  // namespace

Graph parse_graph(std::string_view text) { return GraphParser(text).parse(); }

}  // namespace onnxc
