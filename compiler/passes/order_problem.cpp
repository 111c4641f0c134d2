#include "compiler/passes/order_problem.h"

#include <algorithm>
#include <set>

namespace onnxc {
namespace {

/// The bytes of a value; at likely sizes, if they are unknown.
int64_t likely_bytes(const Type& type) {
  if (!type.is_tensor() || !type.ranked) return 0;
  double bytes = held_bits(type.element) / 8;
  for (Dim d : type.extents) bytes *= static_cast<double>(std::max<int64_t>(0, likely_value(d)));
  return static_cast<int64_t>(std::min(bytes, 1e13));
}

}  // namespace

bool binds_extents(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const Node& node) { return !node.binds.empty(); });
}

OrderProblem order_problem(const Graph& graph) {
  OrderProblem problem;
  const std::set<ValueId> outputs(graph.outputs.begin(), graph.outputs.end());
  PerValue<bool> computed(graph.values.size());
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
      computed[v] = !outputs.contains(v);
    }
    // Elementwise loops may write over their operands, and kernels over the operands of their epilogues.
    if (node.outputs[0] == kAbsent) continue;
    for (std::size_t i = static_cast<std::size_t>(node.is_map() ? 0 : node.own_inputs()); i < node.inputs.size(); ++i) {
      if (graph[node.inputs[i]].type == graph[node.outputs[0]].type) n.reuses.push_back(node.inputs[i]);
    }
  }
  for (ValueId v = 0; v < std::ssize(graph.values); ++v) problem.bytes.push_back(computed[v] ? likely_bytes(graph[v].type) : 0);
  return problem;
}

}  // namespace onnxc
