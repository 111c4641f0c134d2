// The origins of steps: which nodes of the model each of them computes.
#pragma once
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/program.h"

namespace onnxc {

struct Origin {
  const Node* node;
  std::string output;  ///< the name of the node's first output, as nodes may have none
};

/// For each step, in pre-order: nodes of `model`, which is the graph as it was imported with its regions, in the
/// order of the model.
///
/// Passes fuse, fold and rename, but the results of a node keep their names, and the parts of a node that was
/// decomposed have its name with a number. So a step stands for the node of which it computes a value or a part, and
/// for the nodes before it up to values that other steps compute. It does not stand for
///   - nodes that are evaluated when the model is compiled: those of constants and of extents. Their results are in the weights, under
///     their own names;
///   - nodes that an equal one replaces: of nodes that do the same to the same values (equal_values.h) only one is computed. The step that
///     does so stands for all of them, and its readers for none.
/// A step without a name of the model (a conversion of a layout) stands for what its first reader computes.
std::vector<std::vector<Origin>> find_origins(const Graph& model, const Program& program);

}  // namespace onnxc
