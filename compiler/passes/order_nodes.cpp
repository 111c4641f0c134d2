// Reorders nodes so that fewer bytes are live at once; see passes/order_search.h.
//
// It only sees the graph. That a chain of convolutions runs by bands of rows, or that a kernel needs a workspace, is
// decided later.
#include <algorithm>
#include <utility>

#include "compiler/passes/order_problem.h"
#include "compiler/passes/passes.h"

namespace onnxc {

Graph order_nodes(Graph graph) {
  if (binds_extents(graph)) return graph;
  const NodeOrder order = find_node_order(order_problem(graph));
  std::vector<Node> nodes;
  for (int n : order.order) nodes.push_back(std::move(graph.node(n)));
  graph.nodes = std::move(nodes);
  return graph;
}

}  // namespace onnxc
