// Names of results, where a node's parts take its place.
#pragma once
#include <algorithm>
#include <utility>

#include "compiler/ir/graph.h"

namespace onnxc {

/// For a result that an Identity carries to `output` and that outlives it: it gets the output's name, by which the model knows it, unless that is one of the graph's outputs.
inline void hand_over_name(Graph& graph, ValueId output, ValueId result) {
  if (std::ranges::find(graph.outputs, output) == graph.outputs.end()) std::swap(graph[output].name, graph[result].name);
}

}  // namespace onnxc
