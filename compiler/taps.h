// Values of the model that become outputs, so that they can be inspected.
#pragma once
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace onnxc {

/// Appends the named values to the outputs of an imported graph, so that passes keep them. Values that are outputs
/// already are not added. Throws Error{Usage} for names that the graph does not have, with the closest ones, and for
/// values inside a region.
void add_taps(Graph& graph, const std::vector<std::string>& names);

}  // namespace onnxc
