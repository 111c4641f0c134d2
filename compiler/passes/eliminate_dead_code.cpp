#include <algorithm>
#include <map>

#include "compiler/ops/shape_arithmetic.h"
#include "compiler/passes/passes.h"

namespace onnxc {
namespace {

using Symbols = std::map<std::string, Dim>;

void collect(const Type& type, Symbols& into) {
  for (Dim d : type.extents) d.collect_symbols(into);
  for (const Type& inner : type.nested) collect(inner, into);
}

/// The symbols that the node's types, extents and regions depend on.
void collect(const Graph& graph, const Node& node, Symbols& into) {
  for (ValueId v : node.outputs) {
    if (v != kAbsent) collect(graph[v].type, into);
  }
  for (ValueId v : node.inputs) {
    if (v == kAbsent || !graph[v].elements || is_bind(node)) continue;
    for (Dim d : *graph[v].elements) d.collect_symbols(into);
  }
  for (const char* name : {"elements", "extents", "value"}) {
    const auto it = node.attributes.find(name);
    if (node.domain != "onnxc" || it == node.attributes.end()) continue;
    if (const auto* texts = std::get_if<std::vector<std::string>>(&it->second)) {
      for (const std::string& text : *texts) parse_dim(text).collect_symbols(into);
    }
  }
  for (const auto& [name, region] : node.regions) {
    for (const Value& v : region->values) collect(v.type, into);
    for (const Node& inner : region->nodes) collect(*region, inner, into);
  }
}

}  // namespace

Graph eliminate_dead_code(Graph graph) {
  PerValue<bool> needed(graph.values.size());
  const auto need = [&](ValueId v) {
    if (v != kAbsent) needed[v] = true;
  };
  for (ValueId v : graph.outputs) need(v);
  Symbols symbols;
  for (ValueId v : graph.outputs) collect(graph[v].type, symbols);
  std::vector<Node> kept;
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    Node& node = graph.nodes[i];
    bool used = is_require(node) || is_assume(node) ||
                std::any_of(node.binds.begin(), node.binds.end(), [&](const std::string& s) { return symbols.count(s) != 0; });
    for (ValueId& v : node.outputs) {
      if (v != kAbsent && needed[v]) used = true;
    }
    if (!used) continue;
    // Captures that no region reads any more are removed from the regions and from the node alike.
    for (auto& [name, region] : node.regions) *region = eliminate_dead_code(std::move(*region));
    for (ValueId v : node.inputs) need(v);
    for (ValueId v : node.captures) need(v);
    collect(graph, node, symbols);
    kept.push_back(std::move(node));
  }
  graph.nodes.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));

  // Values that nothing defines or uses any more are removed, too.
  PerValue<bool> alive(graph.values.size());
  const auto keep = [&](ValueId v) {
    if (v != kAbsent) alive[v] = true;
  };
  for (ValueId v : graph.inputs) keep(v);
  for (ValueId v : graph.outputs) keep(v);
  for (const Node& node : graph.nodes) {
    for (const auto* list : {&node.inputs, &node.captures, &node.outputs}) {
      for (ValueId v : *list) keep(v);
    }
  }
  PerValue<ValueId> moved(graph.values.size(), kAbsent);
  std::vector<Value> values;
  for (ValueId v = 0; v < std::ssize(graph.values); ++v) {
    if (!alive[v]) continue;
    moved[v] = static_cast<ValueId>(values.size());
    values.push_back(std::move(graph[v]));
  }
  graph.values = std::move(values);
  const auto move = [&](std::vector<ValueId>& list) {
    for (ValueId& v : list) v = v == kAbsent ? kAbsent : moved[v];
  };
  move(graph.inputs);
  move(graph.outputs);
  for (Node& node : graph.nodes) {
    move(node.inputs);
    move(node.captures);
    move(node.outputs);
  }
  return graph;
}

}  // namespace onnxc
