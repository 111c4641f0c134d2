// Scan as a Loop over slices.
#pragma once
#include <functional>

#include "compiler/ir/graph.h"

namespace onnxc {

/// Scan(initial states, scan inputs) as a Loop whose body picks its slices by the number of the iteration. Outputs
/// that are stacked along another axis or backwards are moved afterwards. `visit` appends a node to the graph and
/// infers it. Opset 8 had a batch axis in front: a Loop over it.
void expand_scan(Graph& graph, const Node& node, const std::function<void(Node)>& visit);

}  // namespace onnxc
