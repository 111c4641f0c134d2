// Signatures: equal for nodes that take the same time with the same kernel.
//
//   Conv {pads = [1, 1, 1, 1]} (f32[1, 64, 56, 56] pixels 64, const f32[64, 64, 3, 3], const f32[64])
//        -> (f32[1, 64, 56, 56] pixels 64) [max(x0, f32(0))] weights 0.45         all in one line
//
// A signature has no names of values or nodes, and no values of weights.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/layout.h"

namespace onnxc {

/// The node's operator and attributes, the types and layouts of its inputs and outputs, and its epilogue; before it
/// the same of the nodes that its kernel `absorbed`. `streaming`: as in Lowerer. The result is one line of readable
/// text. If it would be long, a hash replaces its end.
std::string signature_of(const Graph& graph, const Node& node, std::span<const Node* const> absorbed, const PerValue<Layout>& layouts,
                         double streaming);

}  // namespace onnxc
