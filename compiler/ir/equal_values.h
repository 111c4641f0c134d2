// Which values of a graph are the same whatever it is given: equal constants, and what equal nodes make of equal values.
#pragma once
#include <vector>

#include "compiler/ir/graph.h"

namespace onnxc {

/// For each value the first that is the same: itself where no other is before it. Regions are not looked into, nor compared; what is random equals nothing.
std::vector<ValueId> equal_values(const Graph& graph);

}  // namespace onnxc
