#include "compiler/ir/equal_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <numeric>
#include <string>

namespace onnxc {
namespace {

/// Operators whose results differ from run to run or call to call.
bool is_random(const Node& node) {
  return node.op.starts_with("Random") || node.op == "Bernoulli" || node.op == "Multinomial" ||
         (node.op == "Dropout" && node.inputs.size() > 2);
}

/// A key that is equal for equal nodes, given `same` for their inputs. Empty for nodes that are not compared.
std::string key_of(const Node& node, const PerValue<ValueId>& same) {
  if (!node.regions.empty() || !node.binds.empty() || node.outputs.empty() || is_random(node)) return "";
  std::string key = node.domain + ":" + node.op + "(";
  for (ValueId v : node.inputs) key += fmt::format("{},", v == kAbsent ? kAbsent : same[v]);
  key += fmt::format("){}:{}", node.outputs.size(), node.epilogue_operands);
  for (ValueId v : node.outputs) key += v == kAbsent ? '-' : '+';
  if (node.epilogue) key += node.epilogue->text();
  for (const auto& [name, attribute] : node.attributes) {
    key += ";" + name + "=";
    if (const auto* i = std::get_if<int64_t>(&attribute)) key += fmt::format("i{}", *i);
    else if (const auto* f = std::get_if<float>(&attribute)) key += fmt::format("f{}", *f);
    else if (const auto* s = std::get_if<std::string>(&attribute)) key += fmt::format("s{}:{}", s->size(), *s);
    else if (const auto* l = std::get_if<std::vector<int64_t>>(&attribute)) key += fmt::format("l{}", fmt::join(*l, ","));
    else if (const auto* m = std::get_if<std::vector<float>>(&attribute)) key += fmt::format("m{}", fmt::join(*m, ","));
    else if (const auto* t = std::get_if<std::vector<std::string>>(&attribute)) {
      for (const std::string& text : *t) key += fmt::format("t{}:{}", text.size(), text);
    } else return "";  // rare attributes are not compared
  }
  // Expr::text omits the types of inputs, which the value ids imply. Constants are compared by their bytes, through
  // the ids after merging.
  return key;
}

/// The first of several equal constants represents all of them.
void merge_constants(const Graph& graph, PerValue<ValueId>& same) {
  std::map<std::string, ValueId> seen;
  for (ValueId v = 0; v < std::ssize(graph.values); ++v) {
    const Constant& c = graph[v].constant;
    if (!c || c->type == ElementType::String || c->bytes.size() > 4096) continue;
    std::string key = fmt::format("{}[{}]", name(c->type), fmt::join(c->shape, ","));
    key.append(reinterpret_cast<const char*>(c->bytes.data()), c->bytes.size());
    const auto [it, fresh] = seen.emplace(std::move(key), v);
    if (!fresh) same[v] = it->second;
  }
}

}  // namespace

PerValue<ValueId> equal_values(const Graph& graph) {
  PerValue<ValueId> same(graph.values.size());
  std::iota(same.begin(), same.end(), ValueId{0});
  merge_constants(graph, same);
  std::map<std::string, const Node*> seen;
  for (const Node& node : graph.nodes) {
    const std::string key = key_of(node, same);
    if (key.empty()) continue;
    const auto [first, fresh] = seen.emplace(key, &node);
    for (std::size_t i = 0; !fresh && i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kAbsent) same[node.outputs[i]] = first->second->outputs[i];
    }
  }
  // A constant may represent another one that is the output of a node which an earlier node equals.
  for (ValueId& first : same) {
    while (same[first] != first) first = same[first];
  }
  return same;
}

}  // namespace onnxc
