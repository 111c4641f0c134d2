// What folding takes of time and of memory.
#pragma once
#include <vector>

#include "compiler/ir/graph.h"

namespace onnxc {

/// What evaluating the node takes, in multiply-adds or elements that are moved. Endless where its data may ask for any amount.
double evaluation_work(const Graph& graph, const Node& node, const std::vector<Constant>& inputs);

/// The bytes of a result of strings of type `type`, at most: each is no longer than one of each operand and attribute together, in another case, or a number. Where
/// extents are not known, strings are cut to pieces.
double most_text(const Graph& graph, const Node& node, const Type& type);

}  // namespace onnxc
