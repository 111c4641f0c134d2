#include <fmt/format.h>

#include <map>

#include "compiler/passes/passes.h"

namespace onnxc {
namespace {

constexpr const char* kDomain = "ai.onnx.preview.training";

std::vector<std::string> names_in(const Node& node, const char* attribute) {
  const auto it = node.attributes.find(attribute);
  if (it == node.attributes.end()) return {};
  const auto* names = std::get_if<std::vector<std::string>>(&it->second);
  if (names == nullptr) node.fail(ErrorKind::Invalid, fmt::format("attribute '{}' is not a list of names", attribute));
  return *names;
}

/// `defined`: the position of the node that defines each value, or -1. `at`: the position of this node.
void bind_names(const Graph& graph, Node& node, const PerValue<int>& defined, int at) {
  std::map<std::string_view, ValueId> values;
  for (ValueId v = 0; v < std::ssize(graph.values); ++v) values[graph[v].name] = v;
  const auto add = [&](const std::string& name) {
    const auto it = values.find(name);
    if (it == values.end()) node.fail(ErrorKind::Invalid, fmt::format("'{}' is no value of its graph", name));
    if (defined[it->second] >= at)
      node.fail(ErrorKind::Invalid, fmt::format("uses '{}', which is not defined before it", name),
                "the nodes of a model must be in topological order");
    node.inputs.push_back(it->second);
  };
  const auto xs = names_in(node, "xs"), zs = names_in(node, "zs");
  if (xs.empty() || !node.has("y")) node.fail(ErrorKind::Invalid, "attribute 'xs' or 'y' is missing");
  for (ValueId v : node.inputs) {
    if (v == kAbsent) node.fail(ErrorKind::Invalid, "an input is missing");
  }
  if (node.inputs.size() != xs.size() + zs.size())
    node.fail(ErrorKind::Invalid, fmt::format("has {} inputs for {} names in xs and zs", node.inputs.size(), xs.size() + zs.size()));
  for (const std::string& name : xs) add(name);
  for (const std::string& name : zs) add(name);
  add(node.string("y", ""));
  node.attributes["count"] = static_cast<int64_t>(xs.size());
  node.attributes["held"] = static_cast<int64_t>(zs.size());
}

/// Turns the constant into the result of a node that is never folded.
Node make_variable(Graph& graph, ValueId v) {
  Node node;
  node.domain = "onnxc";
  node.op = "Variable";
  node.name = graph[v].name;
  node.version = 1000;
  node.inputs = {graph.add_constant(graph[v].name, graph[v].constant)};
  node.outputs = {v};
  graph[v].constant = nullptr;
  return node;
}

}  // namespace

Graph bind_gradients(Graph graph) {
  std::vector<Node> variables;
  const PerValue<int> defined = definitions(graph);
  int at = -1;
  for (Node& node : graph.nodes) {
    ++at;
    for (auto& [name, region] : node.regions) *region = bind_gradients(std::move(*region));
    if (node.domain != kDomain || node.op != "Gradient") continue;
    bind_names(graph, node, defined, at);
    const auto named = static_cast<std::size_t>(node.integer("count", 0) + node.integer("held", 0));
    for (std::size_t i = named; i < 2 * named; ++i) {
      if (graph[node.inputs[i]].constant) variables.push_back(make_variable(graph, node.inputs[i]));
    }
  }
  graph.nodes.insert(graph.nodes.begin(), std::make_move_iterator(variables.begin()), std::make_move_iterator(variables.end()));
  return graph;
}

}  // namespace onnxc
