// Nodes in a line of text, for people.
#pragma once
#include <string>

#include "compiler/ir/graph.h"

namespace onnxc {

/// `kernel_shape = [3, 3], mode = "linear"`; of long lists the beginning, of tensors the type.
std::string attributes_text(const Node& node);

/// `Conv(x, w) {kernel_shape = [3, 3]} + relu`: the operator, what it reads, its attributes and the functions of its epilogue. Differs where nodes do,
/// but for what it cuts short.
std::string node_text(const Graph& graph, const Node& node);

}  // namespace onnxc
