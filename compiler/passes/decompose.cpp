#include <optional>

#include "compiler/ops/in_float.h"
#include "compiler/passes/float_nodes.h"
#include "compiler/passes/hand_over_name.h"
#include "compiler/passes/passes.h"

namespace onnxc {
namespace {

/// What a node becomes. Nothing if it stays.
std::optional<std::vector<ValueId>> parts_of(GraphBuilder& builder, const Node& node, Rounded& rounded) {
  const Operator* op = find_operator(node);
  if (op->decompose != nullptr) {
    if (auto results = op->decompose(builder, node)) return results;
  }
  return compute_rounded(builder, node, rounded);
}

/// `origin`: the name of the first output of the model's node that this one is, or is a part of.
void decompose_into(Graph& graph, Node node, const std::string& origin, int& fresh, Rounded& rounded, int depth) {
  if (!node.is_map() && find_operator(node) != nullptr) {
    ONNXC_CHECK(depth < 32, "decompositions end");
    const std::size_t before = graph.values.size();
    GraphBuilder builder(graph, node.name, fresh);
    if (const auto results = node.guard([&] { return parts_of(builder, node, rounded); })) {
      if (!builder.float_reason().empty()) graph.float_reasons.insert_or_assign(origin, builder.float_reason());
      ONNXC_CHECK(results->size() <= node.outputs.size(), "a decomposition gives the node's outputs");
      for (std::size_t i = 0; i < results->size(); ++i) {
        if (node.outputs[i] != kAbsent && (*results)[i] >= static_cast<ValueId>(before))
          hand_over_name(graph, node.outputs[i], (*results)[i]);
      }
      for (Node& part : builder.take()) decompose_into(graph, std::move(part), origin, fresh, rounded, depth + 1);
      for (std::size_t i = 0; i < results->size(); ++i) {
        if (node.outputs[i] == kAbsent || (*results)[i] == kAbsent) continue;
        if (const auto known = rounded.find((*results)[i]); known != rounded.end()) rounded.emplace(node.outputs[i], known->second);
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
  for (auto& [name, region] : node.regions) {
    *region = decompose(std::move(*region));
    graph.float_reasons.merge(region->float_reasons);
  }
  if (node.is("Cast") && graph[node.inputs[0]].type.element == ElementType::F32 && is_half(graph[node.outputs[0]].type.element))
    rounded.emplace(node.outputs[0], kAbsent);
  graph.nodes.push_back(std::move(node));
}

}  // namespace

Graph decompose(Graph graph) {
  int fresh = first_fresh(graph);
  Rounded rounded;
  std::vector<Node> nodes = std::move(graph.nodes);
  graph.nodes.clear();
  for (Node& node : nodes) {
    const std::string origin = first_output(graph, node);
    decompose_into(graph, std::move(node), origin, fresh, rounded, 0);
  }
  return graph;
}

}  // namespace onnxc
