// The evaluator: computes nodes and whole graphs with the reference kernels, for constant folding and for tests of
// passes.
#pragma once
#include "compiler/ops/operator.h"

namespace onnxc {

/// Evaluates the expression for every element of the broadcast inputs.
TensorData evaluate_expression(const Expr& expr, const std::vector<Constant>& inputs, const std::vector<int64_t>& shape);

/// The values of the graph's outputs, given those of its inputs in order. Throws Error{Unsupported} if a node has no
/// reference value.
std::vector<Constant> evaluate_graph(const Graph& graph, const std::vector<Constant>& inputs);

}  // namespace onnxc
