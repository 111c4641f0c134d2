// The rules of recognise_quantised, by what they look for. Each appends to the builder what takes a node's place and returns the results, or returns
// the reason, and appends nothing that is needed, if the node stays as it is.
#pragma once
#include "compiler/passes/quantised_graph.h"

namespace onnxc {

/// Conv, MatMul and Gemm of dequantised operands: products of bytes.
Attempt<ValueId> product_of_bytes(QuantisedGraph& g, GraphBuilder& b, const Node& node);
/// ConvTranspose by constant weights: a convolution of bytes, and DepthToSpace.
Attempt<ValueId> transposed_convolution(QuantisedGraph& g, GraphBuilder& b, const Node& node);
/// AveragePool, GlobalAveragePool and ReduceMean of dequantised values: sums of bytes.
Attempt<ValueId> average_of_bytes(QuantisedGraph& g, GraphBuilder& b, const Node& node);
/// What only moves dequantised values, or takes the greatest of them, does so before they become real.
Attempt<std::vector<ValueId>> move_bytes(QuantisedGraph& g, GraphBuilder& b, const Node& node);
/// QuantizeLinear and what is before it.
Attempt<ValueId> quantise(QuantisedGraph& g, GraphBuilder& b, const Node& node);

/// Whether move_bytes is for such an operator.
bool may_move_bytes(const Node& node);
/// Whether the node moves the values of input 0 to its only output, or takes the greatest of several, whatever they are: it commutes with QuantizeLinear.
bool moves_values(const Node& node);
/// The quantised values as a function of one other value of bytes, by a table of all 256; nothing if they aren't such a function, or a cheap one.
std::optional<ValueId> look_up(QuantisedGraph& g, GraphBuilder& b, ValueId real, const Quantisation& as);

}  // namespace onnxc
