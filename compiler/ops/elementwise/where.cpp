// Where: x1 where the condition holds, else x2.
#include "compiler/ops/elementwise/elementwise.h"

namespace onnxc {
namespace {

Expr express_where(const Graph& graph, const Node& node) {
  if (element_of(graph, node, 0) != ElementType::Bool) node.fail(ErrorKind::Invalid, "the condition is not bool");
  return simple_expression(graph, node, Fn::Where);
}

}  // namespace

extern const Operator op_Where;
const Operator op_Where{.name = "Where", .min_inputs = 3, .max_inputs = 3, .max_outputs = 1, .express = express_where};

}  // namespace onnxc
