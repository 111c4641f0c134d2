// Estimates the time and the memory that folding a node takes.
#pragma once
#include <vector>

#include "compiler/ir/graph.h"

namespace onnxc {

/// The cost of evaluating the node, in multiply-adds or elements moved. Infinite if the node's data may demand any
/// amount.
double evaluation_work(const Graph& graph, const Node& node, const std::vector<Constant>& inputs);

/// An upper bound for the bytes of a result of strings of type `type`: each string is no longer than one string of each
/// operand and attribute together, in another case, or a number. If the extents are unknown, strings are split into
/// pieces.
double most_text(const Graph& graph, const Node& node, const Type& type);

}  // namespace onnxc
