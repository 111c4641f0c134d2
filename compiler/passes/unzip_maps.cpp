// Removes ZipMap: its output becomes the scores that it would turn into maps, one row of classes for each example.
#include "compiler/passes/passes.h"

namespace onnxc {

Graph unzip_maps(Graph graph) {
  for (Node& node : graph.nodes) {
    if (node.domain != "ai.onnx.ml" || node.op != "ZipMap" || node.inputs.size() != 1 || node.outputs.size() != 1) continue;
    Node identity;
    identity.op = "Identity";
    identity.name = node.name;
    identity.version = 13;
    identity.inputs = node.inputs;
    identity.outputs = node.outputs;
    graph[node.outputs[0]].type = {};
    node = std::move(identity);
  }
  for (Value& value : graph.values) {  // the types that the model states for maps no longer hold
    if (value.stated.kind == Type::Kind::Sequence && value.stated.nested[0].kind == Type::Kind::Map) value.stated = {};
  }
  return graph;
}

}  // namespace onnxc
