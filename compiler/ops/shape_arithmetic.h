// Elements of small integer tensors as Dims: the results of Shape, Gather, Concat and arithmetic on shapes.
#pragma once
#include "compiler/ops/operator.h"

namespace onnxc {

/// States the elements of an elementwise output if those of all inputs are known and every function has a counterpart
/// for Dims.
void infer_expression_elements(Inference& inference, const Expr& expr, const Extents& extents);

/// The onnxc.Extents node that gives `value` its known elements.
Node make_extents_node(const Graph& graph, ValueId value);
bool is_extents(const Node& node);
/// Gives an onnxc.Extents node numbers for its symbols.
void bind_symbols(Node& extents, const std::map<std::string, Dim>& symbols);

/// onnxc.Bind: binds run-time symbols to the elements of an integer tensor of known length, and states them as the
/// value's elements.
Node make_bind_node(Graph& graph, ValueId value, int& fresh);
bool is_bind(const Node& node);
/// onnxc.Let: binds a symbol to an expression; the run ends if that is negative. Each walk over the graph states it
/// anew.
Node make_let_node(Dim expression, std::string symbol);
bool is_let(const Node& node);
/// onnxc.Require: ends the run if extents are not as required. Shape rules state it, anew in each walk over the
/// graph.
Node make_require_node(const Requirement& requirement);
bool is_require(const Node& node);
/// onnxc.Assume: the condition of the If of that name, as an integer, must be `value`. Each walk over the graph
/// states the requirement anew.
Node make_assume_node(const std::string& name, ValueId integer, int64_t value);
bool is_assume(const Node& node);

/// Tensors of more elements are data, not shapes.
constexpr int64_t kMostShapeElements = 256;

}  // namespace onnxc
