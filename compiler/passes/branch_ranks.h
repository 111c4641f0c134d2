// An If whose branches differ in rank, as exporters write "squeeze if the extent is 1".
//
// The nodes that read its results are written for one rank, and a value has one rank. So each branch takes in a copy
// of the nodes that depend on the If, and the If then computes the graph's results:
//
//   r = If(c) {Squeeze(x)} else {x}                   y, s = If(c) {r = Squeeze(x)  y = Mul(r, two)  s = Shape(r)}
//   y = Mul(r, two)   s = Shape(r)       becomes                   else            {y = Mul(x, two)  s = Shape(x)}
//
// A result that still differs in rank leaves the graph as a value that states its rank. If the nodes in one branch
// are invalid, no run of the model can take that branch: the other one is assumed, and a run with another condition
// ends with a status.
//
// The nodes after k such Ifs in sequence are copied 2^k times, so the number of copies is limited.
#pragma once
#include <deque>
#include <functional>
#include <optional>
#include <set>

#include "compiler/ir/graph.h"

namespace onnxc {

/// Whether an If, whose branches are inferred, has a result that differs in rank: both are tensors of one element
/// type.
bool ranks_differ(const Graph& graph, const Node& node);

/// What a walk over a graph knows of such Ifs.
class BranchRanks {
 public:
  /// Moves those of the nodes `to_come` that depend on the If's results into its branches, and the If behind all
  /// others. Returns false if there are none.
  bool take_in_rest(const Graph& graph, Node& node, std::deque<Node>& to_come);

  /// Infers the branches with `walk`. One of two branches that took in the rest of the graph may be invalid: then
  /// returns the condition of the other.
  std::optional<bool> enter(Node& node, const std::function<void(Graph&)>& walk) const;

 private:
  void continue_in(const Graph& graph, const Node& node, Graph& branch, const std::vector<Node>& rest, const std::vector<ValueId>& captures,
                   const std::vector<ValueId>& given);

  std::set<const Graph*> continued_;  // branches that took in what followed their If
  std::size_t taken_in_ = 0;          // the number of nodes moved into the branches of all Ifs
};

}  // namespace onnxc
