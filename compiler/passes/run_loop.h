// A Loop whose inputs are constants, run while it is evaluated.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "compiler/ir/graph.h"

namespace onnxc {

/// The values of the outputs of a Loop whose inputs and captures are all constants. `evaluate` makes constants of what a graph without inputs
/// computes. Empty if some input is unknown, some value of the body is, it has scan outputs and no iteration, or it does not end soon. Throws
/// what `evaluate` throws.
std::optional<std::vector<Constant>> run_loop(const Graph& graph, const Node& node, const std::function<void(Graph&)>& evaluate);

}  // namespace onnxc
