// Nodes as a line of text for people.
#pragma once
#include <string>

#include "compiler/ir/graph.h"

namespace onnxc {

/// `kernel_shape = [3, 3], mode = "linear"`; the beginning of long lists, and the type of tensors.
std::string attributes_text(const Node& node);

/// `Conv(x, w) {kernel_shape = [3, 3]} + relu`: the operator, its inputs, its attributes and the functions of its
/// epilogue. Differs for different nodes, except for what is shortened.
std::string node_text(const Graph& graph, const Node& node);

}  // namespace onnxc
