// Computes cheap values again for each of their readers, if keeping them is what makes the arena large:
//
//   mask = Expand(m)                            mask = Expand(m)
//   a = Add(x, mask)                            a = Add(x, mask)
//   ...                         becomes         ...
//   z = Add(y, mask)                            mask_again = Expand(m)
//                                               z = Add(y, mask_again)
//
// Nodes are cheap if each element is computed from a few others: expressions and broadcasts. A copy is often fused
// into the expression of its reader.
#include <algorithm>
#include <numeric>
#include <utility>

#include "compiler/passes/order_problem.h"
#include "compiler/passes/passes.h"

namespace onnxc {
namespace {

bool is_cheap(const Node& node) {
  return node.outputs.size() == 1 && node.regions.empty() &&
         (node.is_map() || node.is("Expand") || node.is("Tile") || node.is("ConstantOfShape"));
}

int64_t peak_of(const OrderProblem& problem) {
  std::vector<int> order(problem.nodes.size());
  std::iota(order.begin(), order.end(), 0);
  return peak_bytes(problem, order);
}

bool reads(const Node& node, ValueId value) {
  return std::ranges::find(node.inputs, value) != node.inputs.end() || std::ranges::find(node.captures, value) != node.captures.end();
}

/// Copies the node at `producer` before each reader of its value, except a reader that directly follows another one.
Graph with_copies(const Graph& graph, std::size_t producer) {
  Graph result = graph;
  result.nodes.clear();
  const ValueId value = graph.nodes[producer].outputs[0];
  ValueId current = value;
  std::size_t last = producer;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    Node node = graph.nodes[n];
    if (n > producer && reads(node, value)) {
      if (n > last + 1 && last != producer) {
        Node copy = graph.nodes[producer];
        current = result.add_value(graph[value].name, graph[value].type);
        result[current].elements = graph[value].elements;
        copy.outputs = {current};
        result.nodes.push_back(std::move(copy));
      }
      last = n;
      std::ranges::replace(node.inputs, value, current);
      std::ranges::replace(node.captures, value, current);
    }
    result.nodes.push_back(std::move(node));
  }
  return result;
}

}  // namespace

Graph recompute(Graph graph) {
  constexpr std::size_t kMostNodes = 4000, kMostCandidates = 32;
  constexpr int kMostRounds = 16;
  if (binds_extents(graph) || graph.nodes.size() > kMostNodes) return graph;
  int64_t peak = peak_of(order_problem(graph));
  for (int round = 0; round < kMostRounds; ++round) {
    const OrderProblem problem = order_problem(graph);
    PerValue<int> readers(graph.values.size());
    for (const OrderedNode& node : problem.nodes) {
      for (ValueId v : node.reads) ++readers[v];
    }
    std::vector<std::pair<int64_t, std::size_t>> candidates;  // bytes, producer
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
      if (!is_cheap(graph.nodes[n])) continue;
      const ValueId value = graph.nodes[n].outputs[0];
      if (readers[value] > 1 && problem.bytes[value] > 0) candidates.emplace_back(problem.bytes[value], n);
    }
    std::ranges::sort(candidates, std::ranges::greater());
    candidates.resize(std::min(candidates.size(), kMostCandidates));
    std::optional<Graph> best;
    for (const auto& [bytes, producer] : candidates) {
      Graph next = with_copies(graph, producer);
      const int64_t height = peak_of(order_problem(next));
      if (height >= peak) continue;
      peak = height;
      best = std::move(next);
    }
    if (!best) break;
    graph = std::move(*best);
  }
  return graph;
}

}  // namespace onnxc
