// An If whose branches differ in rank, as exporters write "squeeze if the extent is 1".
//
// What reads its results is written for one rank, and a value has one rank. So each branch takes in the nodes that depend on the If, which has the
// graph's results then:
//
//   r = If(c) {Squeeze(x)} else {x}                   y, s = If(c) {r = Squeeze(x)  y = Mul(r, two)  s = Shape(r)}
//   y = Mul(r, two)   s = Shape(r)       becomes                   else            {y = Mul(x, two)  s = Shape(x)}
//
// A result that still differs in rank leaves the graph as a value that tells its rank. A branch whose rest is not valid is one that no run of the
// model can take: the other is taken, and a run in which the condition says otherwise ends with a status.
//
// Nodes behind k such Ifs, one after the other, are there 2^k times; there is a limit to how many.
#pragma once
#include <deque>
#include <functional>
#include <optional>
#include <set>

#include "compiler/ir/graph.h"

namespace onnxc {

/// Whether an If, whose branches are inferred, has a result of unlike ranks that are tensors of one element type.
bool ranks_differ(const Graph& graph, const Node& node);

/// What a walk over a graph knows of such Ifs.
class BranchRanks {
 public:
  /// Moves the nodes `to_come` that depend on the If's results into its branches, and puts it behind all others. False where there are none.
  bool take_in_rest(const Graph& graph, Node& node, std::deque<Node>& to_come);

  /// Infers the branches with `walk`. Of those that took in the rest of the graph one may not be valid: then gives the condition of the other.
  std::optional<bool> enter(Node& node, const std::function<void(Graph&)>& walk) const;

 private:
  void continue_in(const Graph& graph, const Node& node, Graph& branch, const std::vector<Node>& rest, const std::vector<ValueId>& captures,
                   const std::vector<ValueId>& given);

  std::set<const Graph*> continued_;  // branches that took in what followed their If
  std::size_t taken_in_ = 0;          // nodes, into the branches of all Ifs
};

}  // namespace onnxc
