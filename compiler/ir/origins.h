// Where steps come from: the nodes of the model that each of them computes.
#pragma once
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/program.h"

namespace onnxc {

struct Origin {
  const Node* node;
  std::string output;  ///< the name of its first output, as nodes may have none
};

/// For each step, in pre-order: nodes of `model`, the graph as it was imported (regions included), in the order of the model. Passes fuse, fold and
/// rename, but what leaves a node keeps its name; so a step stands for the nodes between the value it computes and those that other steps compute.
/// A step whose value has no name in the model, nor the output that it writes (a part of an operator that was taken apart, a conversion of a layout) stands for what its first reader does.
std::vector<std::vector<Origin>> find_origins(const Graph& model, const Program& program);

}  // namespace onnxc
