// Which nodes of a quantised network stay in floats, for the user: Graph::float_reasons.
#pragma once
#include <set>
#include <string>

#include "compiler/ir/graph.h"

namespace onnxc {

/// The name of the node's first output that is there; empty if it has none.
std::string first_output(const Graph& graph, const Node& node);

/// What recognise_quantised leaves in floats: products, and other operators whose operands were dequantised, or whose results are quantised.
/// Elementwise operators are not among them, nor what they are between: the steps before and after compute them in registers.
class FloatNodes {
 public:
  explicit FloatNodes(const Graph& graph);
  /// Records why a node stays as it is. `why`: what its rule says; empty if there is none for it.
  void record(Graph& graph, const Node& node, const std::string& why) const;

 private:
  bool is_quantised_ = false;
  std::set<ValueId> among_quantised_;  ///< first outputs of nodes that read or give functions of quantised values
};

}  // namespace onnxc
