// Finds values of a graph that are always equal: equal constants, and the results of equal nodes of equal values.
#pragma once
#include "compiler/ir/graph.h"

namespace onnxc {

/// For each value the first one that is equal to it, which may be the value itself. Nodes with regions are not
/// compared, nor values inside regions. Random values equal nothing.
PerValue<ValueId> equal_values(const Graph& graph);

}  // namespace onnxc
