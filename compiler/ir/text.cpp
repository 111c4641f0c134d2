// The text form of graphs, for tests, --print-after and graph_opt.
//
//   graph "mnist" (x: f32[batch, 784]) -> (y) {
//     const w: f32[2, 2] = [1, 2, 3, 4]
//     const big: f32[784, 128] = {hex bytes}
//     t: f32[batch, 128] = MatMul(x, w) {alpha = 0.5, axes = [0, 1], mode = "linear"}  # name
//     y: f32[batch, 128] = onnxc.Map(t, b) [max(add(x0, x1), f32(0))]
//     n: i64[1, count_1] = NonZero(x) binds ["count_1"]
//     z: f32[2] = If(c) captures (t) {} then_branch graph "g" (...) -> (...) { ... } else_branch graph ...
//   }
//
// `graph "step" (x: f32[4], past: f32[4]) -> (y, present) states (past -> present) {` names what a caller keeps from
// run to run.
//
// Names that are not plain words are quoted; absent inputs and outputs are written `_`.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "compiler/ir/graph.h"

namespace onnxc {
namespace {

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

bool is_word(std::string_view text) {
  if (text.empty() || text == "_" || isdigit(static_cast<unsigned char>(text[0]))) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '/'; }) &&
         text != "const" && text != "graph" && text != "captures" && text != "binds";
}

std::string word(std::string_view text) { return is_word(text) ? std::string(text) : in_quotes(text); }

std::string number(float value) {
  std::string text = fmt::format("{}", value);
  return std::isfinite(value) && text.find_first_of(".e") == text.npos ? text + ".0" : text;
}

std::string constant_text(const TensorData& t) {
  if (t.type == ElementType::String) {
    std::string list;
    for (const auto& s : t.strings) list += (list.empty() ? "" : ", ") + in_quotes(s);
    return "[" + list + "]";
  }
  constexpr int64_t kReadable = 64;
  const bool exact = t.type == ElementType::F32 || t.type == ElementType::F64 || t.type == ElementType::Bool ||
                     (is_integer(t.type) && !is_sub_byte(t.type));
  if (t.count() <= kReadable && exact) {
    std::string list;
    if (is_integer(t.type)) {
      for (int64_t v : to_integers(t))
        list += (list.empty() ? "" : ", ") + (t.type == ElementType::U64 ? std::to_string(static_cast<uint64_t>(v)) : std::to_string(v));
      return "[" + list + "]";
    }
    const auto values = to_doubles(t);
    if (std::none_of(values.begin(), values.end(), [](double v) { return std::isnan(v); })) {
      for (double v : values)
        list += (list.empty() ? "" : ", ") + (t.type == ElementType::F32 ? fmt::format("{}", static_cast<float>(v)) : fmt::format("{}", v));
      return "[" + list + "]";
    }
  }
  std::string hex;
  for (std::byte b : t.bytes) hex += fmt::format("{:02x}", std::to_integer<int>(b));
  return "{" + hex + "}";
}

}  // namespace

std::string attribute_text(const Attribute& attribute) {
  const auto list = [](const auto& values, auto&& one) {
    std::string text;
    for (const auto& v : values) text += (text.empty() ? "" : ", ") + one(v);
    return "[" + text + "]";
  };
  if (const auto* i = std::get_if<int64_t>(&attribute)) return std::to_string(*i);
  if (const auto* f = std::get_if<float>(&attribute)) return number(*f);
  if (const auto* s = std::get_if<std::string>(&attribute)) return in_quotes(*s);
  if (const auto* l = std::get_if<std::vector<int64_t>>(&attribute)) return list(*l, [](int64_t v) { return std::to_string(v); });
  if (const auto* m = std::get_if<std::vector<float>>(&attribute)) return "f" + list(*m, [](float v) { return number(v); });
  if (const auto* n = std::get_if<std::vector<std::string>>(&attribute))
    return "s" + list(*n, [](const std::string& v) { return in_quotes(v); });
  if (const auto* c = std::get_if<Constant>(&attribute))
    return fmt::format("tensor {}{} {}", name((*c)->type), text(to_extents((*c)->shape)), constant_text(**c));
  return "type " + std::get<Type>(attribute).text();
}

namespace {

void print(const Graph& graph, int indent, std::string& out) {
  const std::string space(static_cast<std::size_t>(indent), ' ');
  const auto list = [&](const std::vector<ValueId>& values, bool types) {
    std::string all;
    for (ValueId v : values) {
      if (!all.empty()) all += ", ";
      all += v == kAbsent ? "_" : types ? fmt::format("{}: {}", word(graph[v].name), graph[v].type.text()) : word(graph[v].name);
    }
    return "(" + all + ")";
  };
  out += fmt::format("graph {} {} -> {}", in_quotes(graph.name), list(graph.inputs, true), list(graph.outputs, false));
  for (const State& state : graph.states)
    out += fmt::format("{}{} -> {}", &state == &graph.states.front() ? " states (" : ", ",
                       word(graph[graph.inputs[static_cast<std::size_t>(state.past)]].name),
                       word(graph[graph.outputs[static_cast<std::size_t>(state.present)]].name));
  out += graph.states.empty() ? " {\n" : ") {\n";
  for (const Value& v : graph.values) {
    if (v.constant) out += fmt::format("{}  const {}: {} = {}\n", space, word(v.name), v.type.text(), constant_text(*v.constant));
  }
  for (const Node& node : graph.nodes) {
    std::string results;
    for (ValueId v : node.outputs) {
      if (!results.empty()) results += ", ";
      results += v == kAbsent ? "_" : fmt::format("{}: {}", word(graph[v].name), graph[v].type.text());
    }
    const std::vector<ValueId> own(node.inputs.begin(), node.inputs.begin() + node.own_inputs());
    out += fmt::format("{}  {} = {}{}", space, results.empty() ? "()" : results, word(node.full_op()), list(own, false));
    if (node.version != 1000 && !node.is_map()) out += fmt::format(" @{}", node.version);
    if (node.epilogue) {
      out += fmt::format(" [{}]", node.epilogue->text());
      if (node.epilogue_operands > 0) out += list({node.inputs.end() - node.epilogue_operands, node.inputs.end()}, false);
    }
    if (!node.attributes.empty()) {
      std::string all;
      for (const auto& [name, value] : node.attributes)
        all += fmt::format("{}{} = {}", all.empty() ? "" : ", ", word(name), attribute_text(value));
      out += " {" + all + "}";
    }
    if (!node.binds.empty()) {
      std::string all;
      for (const std::string& symbol : node.binds) all += (all.empty() ? "" : ", ") + in_quotes(symbol);
      out += " binds [" + all + "]";
    }
    if (!node.captures.empty()) out += " captures " + list(node.captures, false);
    for (const auto& [name, region] : node.regions) {
      out += fmt::format(" {} ", word(name));
      print(*region, indent + 2, out);
      out.pop_back();
    }
    out += fmt::format("  # {}\n", in_quotes(node.name));
  }
  out += space + "}\n";
}

}  // namespace

std::string print_graph(const Graph& graph) {
  std::string out;
  print(graph, 0, out);
  return out;
}

}  // namespace onnxc
