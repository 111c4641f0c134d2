// Names of results when a node is replaced by its parts.
#pragma once
#include <algorithm>
#include <utility>

#include "compiler/ir/graph.h"

namespace onnxc {

/// For a result that an Identity copies to `output` and that outlives it: the result gets the name of the output, by
/// which the model knows it, unless the output is one of the graph's.
inline void hand_over_name(Graph& graph, ValueId output, ValueId result) {
  if (std::ranges::find(graph.outputs, output) == graph.outputs.end()) std::swap(graph[output].name, graph[result].name);
}

}  // namespace onnxc
