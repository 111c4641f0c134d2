#include "compiler/ops/operator.h"
#include "compiler/passes/hand_over_name.h"
#include "compiler/passes/passes.h"

namespace onnxc {
namespace {

void decompose_into(Graph& graph, Node node, int& fresh, int depth) {
  const Operator* op = node.is_map() ? nullptr : find_operator(node);
  if (op != nullptr && op->decompose != nullptr) {
    ONNXC_CHECK(depth < 32, "decompositions end");
    const std::size_t before = graph.values.size();
    GraphBuilder builder(graph, node.name, fresh);
    if (const auto results = node.guard([&] { return op->decompose(builder, node); })) {
      ONNXC_CHECK(results->size() <= node.outputs.size(), "a decomposition gives the node's outputs");
      for (std::size_t i = 0; i < results->size(); ++i) {
        if (node.outputs[i] != kAbsent && (*results)[i] >= static_cast<ValueId>(before))
          hand_over_name(graph, node.outputs[i], (*results)[i]);
      }
      for (Node& part : builder.take()) decompose_into(graph, std::move(part), fresh, depth + 1);
      for (std::size_t i = 0; i < results->size(); ++i) {
        if (node.outputs[i] == kAbsent || (*results)[i] == kAbsent) continue;
        // The last part's result replaces the node's output.
        Node identity;
        identity.op = "Identity";
        identity.name = node.name;
        identity.version = 1000;
        identity.inputs = {(*results)[i]};
        identity.outputs = {node.outputs[i]};
        graph.nodes.push_back(std::move(identity));
      }
      return;
    }
  }
  for (auto& [name, region] : node.regions) *region = decompose(std::move(*region));
  graph.nodes.push_back(std::move(node));
}

}  // namespace

Graph decompose(Graph graph) {
  int fresh = first_fresh(graph);
  std::vector<Node> nodes = std::move(graph.nodes);
  graph.nodes.clear();
  for (Node& node : nodes) decompose_into(graph, std::move(node), fresh, 0);
  return graph;
}

}  // namespace onnxc
