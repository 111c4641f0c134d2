// Elements of small integer tensors as Dims: what Shape, Gather, Concat and arithmetic on shapes come to.
#pragma once
#include "compiler/ops/operator.h"

namespace onnxc {

/// States the elements of an elementwise output where those of all inputs are known and every function has a counterpart on Dims.
void infer_expression_elements(Inference& inference, const Expr& expr, const Extents& extents);

/// The onnxc.Extents node that gives `value` its elements, which are known.
Node make_extents_node(const Graph& graph, ValueId value);
bool is_extents(const Node& node);
/// Gives an onnxc.Extents node numbers for its symbols.
void bind_symbols(Node& extents, const std::map<std::string, Dim>& symbols);

/// Tensors of more elements are data, not shapes.
constexpr int64_t kMostShapeElements = 256;

}  // namespace onnxc
