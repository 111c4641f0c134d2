// A graph as the search for a node order sees it: what each node reads and writes, and how many bytes that is.
#pragma once
#include "compiler/ir/graph.h"
#include "compiler/passes/order_search.h"

namespace onnxc {

/// Whether some node binds extents. Types of other values refer to these extents without being inputs of the node, so
/// nodes must not be moved.
bool binds_extents(const Graph& graph);

/// Unknown sizes are replaced by likely ones. Constants, inputs and outputs count 0 bytes, since they are not in the
/// arena.
OrderProblem order_problem(const Graph& graph);

}  // namespace onnxc
