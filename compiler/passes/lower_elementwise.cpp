#include "compiler/ops/operator.h"
#include "compiler/passes/passes.h"

namespace onnxc {

Graph lower_elementwise(Graph graph) {
  for (Node& node : graph.nodes) {
    for (auto& [name, region] : node.regions) *region = lower_elementwise(std::move(*region));
    const Operator* op = node.is_map() ? nullptr : find_operator(node);
    if (op == nullptr || op->express == nullptr) continue;
    const Expr expr = node.guard([&] { return op->express(graph, node); });
    // Inputs that the expression does not read still take part in the broadcast. All inputs that are present stay,
    // renumbered.
    std::vector<int> number(node.inputs.size(), 0);
    std::vector<ValueId> inputs;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      number[i] = static_cast<int>(inputs.size());
      if (node.inputs[i] != kAbsent) inputs.push_back(node.inputs[i]);
    }
    Expr renumbered = expr;
    for (auto& t : renumbered.terms) {
      if (t.kind == Expr::Kind::Input) t.args[0] = number[static_cast<std::size_t>(t.args[0])];
    }
    node.domain = "onnxc";
    node.op = "Map";
    node.inputs = std::move(inputs);
    node.attributes.clear();
    node.epilogue = std::move(renumbered);
  }
  return graph;
}

}  // namespace onnxc
