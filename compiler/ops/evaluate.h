// The evaluator: values of nodes and whole graphs through the reference kernels. For constant folding and for tests of passes.
#pragma once
#include "compiler/ops/operator.h"

namespace onnxc {

/// The expression for every element of the broadcast inputs.
TensorData evaluate_expression(const Expr& expr, const std::vector<Constant>& inputs, const std::vector<int64_t>& shape);

/// Values of the graph's outputs. `inputs` are values of the graph's inputs, in order.
/// Throws Error{Unsupported} where a node has no reference value.
std::vector<Constant> evaluate_graph(const Graph& graph, const std::vector<Constant>& inputs);

}  // namespace onnxc
