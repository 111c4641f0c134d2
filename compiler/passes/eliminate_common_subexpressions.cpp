#include <algorithm>

#include "compiler/ir/equal_values.h"
#include "compiler/passes/passes.h"

namespace onnxc {

Graph eliminate_common_subexpressions(Graph graph) {
  const PerValue<ValueId> same = equal_values(graph);
  const auto current = [&](std::vector<ValueId>& list) {
    for (ValueId& v : list) v = v == kAbsent ? kAbsent : same[v];
  };
  // Whether other values replace all of the node's outputs.
  const auto is_replaced = [&](const Node& node) {
    const auto kept = [&](ValueId v) { return v != kAbsent && same[v] == v; };
    const bool gives = std::ranges::any_of(node.outputs, [](ValueId v) { return v != kAbsent; });
    return gives && std::ranges::none_of(node.outputs, kept);
  };
  std::erase_if(graph.nodes, is_replaced);
  for (Node& node : graph.nodes) {
    current(node.inputs);
    current(node.captures);
    for (auto& [name, region] : node.regions) *region = eliminate_common_subexpressions(std::move(*region));
  }
  current(graph.outputs);
  return graph;
}

}  // namespace onnxc
