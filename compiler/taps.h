// Values of the model that become outputs, to be looked at.
#pragma once
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace onnxc {

/// Appends the named values to the outputs of the graph as it was imported; passes then keep them. What is an output already stays as it is. Throws Error{Usage} for
/// names that the graph does not know, with the closest ones, and for values inside of a region.
void add_taps(Graph& graph, const std::vector<std::string>& names);

}  // namespace onnxc
