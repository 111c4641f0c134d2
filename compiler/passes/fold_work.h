// Estimates how long folding a node takes.
#pragma once
#include <vector>

#include "compiler/ir/graph.h"

namespace onnxc {

/// The cost of evaluating the node, in multiply-adds or elements moved. Infinite if the node's data may demand any
/// amount.
double evaluation_work(const Graph& graph, const Node& node, const std::vector<Constant>& inputs);

}  // namespace onnxc
