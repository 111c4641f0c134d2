// Runs nodes in an order in which fewer bytes live at once, where there is one; see lowering/node_order.h.
//
// What it sees is the graph: that a chain of convolutions runs by bands of rows, or that a kernel takes a workspace, comes later.
#include <algorithm>
#include <set>
#include <utility>

#include "compiler/lowering/node_order.h"
#include "compiler/passes/passes.h"

namespace onnxc {
namespace {

/// At sizes that are likely where they are not known.
int64_t likely_bytes(const Type& type) {
  if (!type.is_tensor() || !type.ranked) return 0;
  std::map<std::string, Dim> symbols;
  for (Dim d : type.extents) d.collect_symbols(symbols);
  const auto sizes = likely_sizes(symbols);
  double bytes = held_bits(type.element) / 8;
  for (Dim d : type.extents) bytes *= static_cast<double>(std::max<int64_t>(0, d.evaluate(sizes)));
  return static_cast<int64_t>(std::min(bytes, 1e15));
}

OrderProblem state_problem(const Graph& graph) {
  OrderProblem problem;
  const std::set<ValueId> outputs(graph.outputs.begin(), graph.outputs.end());
  std::vector<bool> computed(graph.values.size());
  for (const Node& node : graph.nodes) {
    OrderedNode& n = problem.nodes.emplace_back();
    const auto read = [&](ValueId v) {
      if (v != kAbsent && graph[v].constant == nullptr && std::ranges::find(n.reads, v) == n.reads.end()) n.reads.push_back(v);
    };
    for (ValueId v : node.inputs) read(v);
    for (ValueId v : node.captures) read(v);
    for (ValueId v : node.outputs) {
      if (v == kAbsent) continue;
      n.writes.push_back(v);
      computed[static_cast<std::size_t>(v)] = !outputs.contains(v);
    }
    // Loops over elements write over their operands, and epilogues over theirs.
    if (node.outputs[0] == kAbsent) continue;
    for (std::size_t i = static_cast<std::size_t>(node.is_map() ? 0 : node.own_inputs()); i < node.inputs.size(); ++i) {
      if (graph[node.inputs[i]].type == graph[node.outputs[0]].type) n.reuses.push_back(node.inputs[i]);
    }
  }
  for (std::size_t v = 0; v < graph.values.size(); ++v) problem.bytes.push_back(computed[v] ? likely_bytes(graph.values[v].type) : 0);
  return problem;
}

}  // namespace

Graph order_nodes(Graph graph) {
  // Extents that a node binds stand in the types of others without being among their inputs.
  if (std::ranges::any_of(graph.nodes, [](const Node& node) { return !node.binds.empty(); })) return graph;
  const NodeOrder order = find_node_order(state_problem(graph));
  std::vector<Node> nodes;
  for (int n : order.order) nodes.push_back(std::move(graph.nodes[static_cast<std::size_t>(n)]));
  graph.nodes = std::move(nodes);
  return graph;
}

}  // namespace onnxc
