#include "compiler/ir/equal_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <compare>
#include <concepts>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

namespace onnxc {
namespace {

/// Operators whose results differ from run to run or call to call.
bool is_random(const Node& node) {
  return node.op.starts_with("Random") || node.op == "Bernoulli" || node.op == "Multinomial" ||
         (node.op == "Dropout" && node.inputs.size() > 2);
}

/// A key that is equal for nodes that may be equal, given `same` for their inputs: all of them but for attributes. Empty for nodes
/// that are not compared.
std::string key_of(const Node& node, const PerValue<ValueId>& same) {
  const auto is_rare = [](const auto& named) {
    return std::holds_alternative<Constant>(named.second) || std::holds_alternative<Type>(named.second);
  };
  if (std::ranges::any_of(node.attributes, is_rare)) return "";
  if (!node.regions.empty() || !node.binds.empty() || node.outputs.empty() || is_random(node)) return "";
  std::string key = node.domain + ":" + node.op + "(";
  for (ValueId v : node.inputs) key += fmt::format("{},", v == kAbsent ? kAbsent : same[v]);
  key += fmt::format("){}:{}", node.outputs.size(), node.epilogue_operands);
  for (ValueId v : node.outputs) key += v == kAbsent ? '-' : '+';
  if (node.epilogue) key += node.epilogue->text();
  // Expr::text omits the types of inputs, which the value ids imply. Constants are compared by their bytes, through
  // the ids after merging.
  return key;
}

/// Floats by their bits, which tell zeros apart and make NaN equal to itself.
template <class T>
std::strong_ordering order(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, float>) return std::bit_cast<int32_t>(a) <=> std::bit_cast<int32_t>(b);
  else if constexpr (std::is_same_v<T, std::vector<float>>)
    return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end(), order<float>);
  else if constexpr (std::three_way_comparable<T, std::strong_ordering>) return a <=> b;
  else return std::strong_ordering::equal;  // key_of sets nodes with such attributes aside
}

std::strong_ordering order_of_attributes(const Attribute& a, const Attribute& b) {
  if (a.index() != b.index()) return a.index() <=> b.index();
  return std::visit([&]<class T>(const T& first) { return order(first, std::get<T>(b)); }, a);
}

struct Keyed {
  std::string key;
  const Node* node;
};

struct LessKeyed {
  bool operator()(const Keyed& a, const Keyed& b) const {
    if (const auto by_key = a.key <=> b.key; by_key != 0) return by_key < 0;
    const auto &x = a.node->attributes, &y = b.node->attributes;
    return std::lexicographical_compare_three_way(x.begin(), x.end(), y.begin(), y.end(), [](const auto& first, const auto& second) {
             const auto by_name = first.first <=> second.first;
             return by_name != 0 ? by_name : order_of_attributes(first.second, second.second);
           }) < 0;
  }
};

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
  std::set<Keyed, LessKeyed> seen;
  for (const Node& node : graph.nodes) {
    std::string key = key_of(node, same);
    if (key.empty()) continue;
    const auto [first, fresh] = seen.insert({std::move(key), &node});
    for (std::size_t i = 0; !fresh && i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kAbsent) same[node.outputs[i]] = first->node->outputs[i];
    }
  }
  // A constant may represent another one that is the output of a node which an earlier node equals.
  for (ValueId& first : same) {
    while (same[first] != first) first = same[first];
  }
  return same;
}

}  // namespace onnxc
