// A graph as the search for an order of its nodes sees it: what each reads and writes, and how many bytes that is.
#pragma once
#include "compiler/ir/graph.h"
#include "compiler/passes/node_order.h"

namespace onnxc {

/// Whether nodes bind extents, which stand in the types of other values without being among their nodes' inputs: these nodes must not be moved.
bool binds_extents(const Graph& graph);

/// Bytes are those at sizes that are likely where they are not known. Constants, inputs and outputs have none: they do not lie in the arena.
OrderProblem order_problem(const Graph& graph);

}  // namespace onnxc
