// The evaluator: computes nodes and whole graphs with the reference kernels, for constant folding and for tests of
// passes.
#pragma once
#include "compiler/ops/operator.h"

namespace onnxc {

/// Evaluates the expression for every element of the broadcast inputs.
TensorData evaluate_expression(const Expr& expr, const std::vector<Constant>& inputs, const std::vector<int64_t>& shape);

/// An output of a graph: its value, or why there is none.
struct Evaluated {
  Constant value{};      ///< null: there is none
  bool refused = false;  ///< a node does not allow these inputs; else it has no reference value
  std::string why{};
};

/// The graph's outputs, given the values of its inputs in order, as the graph stands after import or after any pass. Throws Error{Invalid}
/// if the shapes of the inputs do not fit.
std::vector<Evaluated> evaluate_outputs(const Graph& graph, const std::vector<Constant>& inputs);
/// The values of the outputs. Throws Error{Unsupported} if one has none.
std::vector<Constant> evaluate_graph(const Graph& graph, const std::vector<Constant>& inputs);

}  // namespace onnxc
