// What nodes have in common that take the same time with the same kernel.
//
//   Conv {pads = [1, 1, 1, 1]} (f32[1, 64, 56, 56] pixels 64, const f32[64, 64, 3, 3], const f32[64]) -> (f32[1, 64, 56, 56] pixels 64) [max(x0, f32(0))] weights 0.45
//
// Names of values and nodes are not in it, values of weights neither.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/layout.h"

namespace onnxc {

/// The node's operator, attributes, types and layouts of what it reads and writes, its epilogue, and the same of the nodes that its kernel `absorbed`. `streaming`: as
/// Lowerer has it. One line of text that a person can read, with a hash in the place of its end where it would be long.
std::string signature_of(const Graph& graph, const Node& node, std::span<const Node* const> absorbed, const std::vector<Layout>& layouts,
                         double streaming);

}  // namespace onnxc
