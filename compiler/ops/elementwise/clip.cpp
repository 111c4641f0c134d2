// Clip: min(max(x, low), high); an absent bound does not bind. Before opset 11 the bounds were attributes.
#include "compiler/ops/elementwise/elementwise.h"

namespace onnxc {
namespace {

void resolve_clip(GraphBuilder& builder, Node& node) {
  if (node.version >= 11) return;
  const auto bound = [&](const char* name) -> ValueId {
    if (!node.has(name)) return kAbsent;
    const double value = static_cast<double>(node.number(name, 0));
    node.attributes.erase(name);
    return builder.number(builder.type(node.inputs[0]).element, value);
  };
  const ValueId low = bound("min"), high = bound("max");
  node.inputs = {node.inputs[0], low, high};
}

Expr express_clip(const Graph& graph, const Node& node) {
  Expr e;
  int x = e.input(0, element_of(graph, node, 0));
  if (node.has_input(1)) x = e.apply(Fn::Max, x, e.input(1, element_of(graph, node, 1)));
  if (node.has_input(2)) x = e.apply(Fn::Min, x, e.input(2, element_of(graph, node, 2)));
  e.finish(x);
  return e;
}

}  // namespace

extern const Operator op_Clip;
const Operator op_Clip{
    .name = "Clip", .min_inputs = 1, .max_inputs = 3, .max_outputs = 1, .resolve = resolve_clip, .express = express_clip};

}  // namespace onnxc
