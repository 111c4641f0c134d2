// What elementwise operators share.
#pragma once
#include "compiler/ops/operator.h"

namespace onnxc {

/// Element type of input i.
inline ElementType element_of(const Graph& graph, const Node& node, int i) {
  if (!node.has_input(i)) node.fail(ErrorKind::Invalid, "input " + std::to_string(i) + " is missing");
  return graph[node.input(i)].type.element;
}

/// Before opset 7 operand B was aligned by attributes `broadcast` and `axis`: B's axes start at A's `axis`.
/// Rewrites B with trailing axes of extent 1 so that numpy's rule gives the same.
void resolve_old_broadcast(GraphBuilder& builder, Node& node);

/// The value under `count` more axes of extent 1 at the end.
ValueId add_trailing_axes(GraphBuilder& builder, ValueId value, int64_t count);

/// expr = fn(x0), fn(x0, x1) or fn(x0, x1, x2), all inputs of their own types.
Expr simple_expression(const Graph& graph, const Node& node, Fn fn);

}  // namespace onnxc
