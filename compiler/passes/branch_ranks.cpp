#include "compiler/passes/branch_ranks.h"

#include <algorithm>
#include <map>

#include "compiler/support/error_codes.h"

namespace onnxc {

bool ranks_differ(const Graph& graph, const Node& node) {
  const Graph *then_branch = node.region("then_branch"), *else_branch = node.region("else_branch");
  if (then_branch == nullptr || else_branch == nullptr || node.inputs.size() != 1 ||
      graph[node.inputs[0]].type.element != ElementType::Bool)
    return false;
  const std::size_t count = std::min({node.outputs.size(), then_branch->outputs.size(), else_branch->outputs.size()});
  for (std::size_t i = 0; i < count; ++i) {
    const Type &a = (*then_branch)[then_branch->outputs[i]].type, &b = (*else_branch)[else_branch->outputs[i]].type;
    if (!a.is_tensor() || !b.is_tensor() || a.element != b.element) continue;
    if (a.ranked != b.ranked || (a.ranked ? a.rank() != b.rank() : true)) return true;
  }
  return false;
}

/// Appends the nodes `rest` to a branch. The branch's results become its versions of `given`.
void BranchRanks::continue_in(const Graph& graph, const Node& node, Graph& branch, const std::vector<Node>& rest,
                              const std::vector<ValueId>& captures, const std::vector<ValueId>& given) {
  std::map<ValueId, ValueId> inside{{kAbsent, kAbsent}};
  const std::size_t formals = branch.inputs.size() - node.captures.size();
  for (std::size_t i = 0; i < captures.size(); ++i) {
    if (i >= node.captures.size()) branch.inputs.push_back(branch.add_value(graph[captures[i]].name, graph[captures[i]].type));
    inside[captures[i]] = branch.inputs[formals + i];
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != kAbsent) inside[node.outputs[i]] = branch.outputs.at(i);
  }
  for (const Node& next : rest) {
    if (next.domain == "onnxc" && !next.binds.empty())
      node.fail(ErrorCode::RankChanges, "its branches differ in rank, and what follows has sizes that depend on data");
    Node copy = next;
    copy.binds.clear();
    copy.trials.reset();  // types differ from one branch to the other
    for (auto& [name, inner] : copy.regions) {
      inner = std::make_shared<Graph>(clone(*inner));
      for_each_graph(*inner, [](Graph& deeper) {
        for (Node& other : deeper.nodes) other.trials.reset();
      });
    }
    for (ValueId v : next.outputs) {
      if (v != kAbsent) inside[v] = branch.add_value(graph[v].name, graph[v].type);
    }
    for (auto* list : {&copy.inputs, &copy.outputs, &copy.captures}) {
      for (ValueId& v : *list) v = inside.at(v);
    }
    branch.nodes.push_back(std::move(copy));
  }
  branch.outputs.clear();
  for (ValueId v : given) branch.outputs.push_back(inside.at(v));
  continued_.insert(&branch);
}

bool BranchRanks::take_in_rest(const Graph& graph, Node& node, std::deque<Node>& to_come) {
  std::set<ValueId> results;
  for (ValueId v : node.outputs) {
    if (v != kAbsent) results.insert(v);
  }
  std::deque<Node> others;
  std::vector<Node> rest;
  for (Node& next : to_come) {
    const auto depends = [&](ValueId v) { return results.contains(v); };
    if (!std::ranges::any_of(next.inputs, depends) && !std::ranges::any_of(next.captures, depends)) {
      others.push_back(std::move(next));
      continue;
    }
    results.insert(next.outputs.begin(), next.outputs.end());
    rest.push_back(std::move(next));
  }
  if (rest.empty()) {
    to_come = std::move(others);
    return false;
  }
  results.erase(kAbsent);
  constexpr std::size_t kMostTakenIn = 100'000;
  taken_in_ += rest.size();
  if (taken_in_ > kMostTakenIn)
    node.fail(ErrorCode::RankChanges,
              "its branches differ in rank, as those of others before it do: what follows would be compiled for too many combinations",
              "fix the dimensions that decide it with --dim");
  std::vector<ValueId> given;  // the results of the If that leave the graph
  for (ValueId v : graph.outputs) {
    if (results.contains(v) && std::ranges::find(given, v) == given.end()) given.push_back(v);
  }
  std::vector<ValueId> captures = node.captures;
  for (const Node& next : rest) {
    for (const auto* list : {&next.inputs, &next.captures}) {
      for (ValueId v : *list) {
        if (v != kAbsent && !results.contains(v) && std::ranges::find(captures, v) == captures.end()) captures.push_back(v);
      }
    }
  }
  for (auto& [name, region] : node.regions) continue_in(graph, node, *region, rest, captures, given);
  node.captures = std::move(captures);
  node.outputs = std::move(given);
  node.binds.clear();
  others.push_back(std::move(node));
  to_come = std::move(others);
  return true;
}

std::optional<bool> BranchRanks::enter(Node& node, const std::function<void(Graph&)>& walk) const {
  std::optional<bool> only;
  std::optional<Error> first;
  for (auto& [name, branch] : node.regions) {
    try {
      walk(*branch);
    } catch (const Error& error) {
      if (!continued_.contains(branch.get()) || error.kind() != ErrorKind::Invalid) throw;
      if (first) throw *first;
      first = error;
      only = name == "else_branch";
    }
  }
  return only;
}

}  // namespace onnxc
