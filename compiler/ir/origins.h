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

/// For each step, in pre-order: nodes of `model`, the graph as it was imported (regions included), in the order of the model.
///
/// Passes fuse, fold and rename, but what leaves a node keeps its name, and a part of a node that was taken apart has the node's name with a number. So a step stands
/// for the node whose value, or a part of which, it computes, and for those before it up to values that other steps compute. It does not stand for
///   - what is known when the model is compiled: nodes of constants and of extents alone. What became of them is in the weights, under the names of their values;
///   - what an equal node gives: of nodes that do the same to the same values (equal_values.h) one is computed. The step that does so stands for all of them, its
///     readers for none.
/// A step that is not known by a name of the model (a conversion of a layout) stands for what its first reader does.
std::vector<std::vector<Origin>> find_origins(const Graph& model, const Program& program);

}  // namespace onnxc
