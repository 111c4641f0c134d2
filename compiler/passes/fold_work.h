// How long folding takes.
#pragma once
#include <vector>

#include "compiler/ir/graph.h"

namespace onnxc {

/// What evaluating the node takes, in multiply-adds or elements that are moved. Endless where its data may ask for any amount.
double evaluation_work(const Graph& graph, const Node& node, const std::vector<Constant>& inputs);

}  // namespace onnxc
