// A state that grows along one axis, as keys and values of a language model do, lies in one block of the caller's memory: what is appended comes
// behind what is there, and nothing is copied. That needs the axis to be the outermost one; where it is not, the state is transposed:
//
//   past [b, h, past, d]                                past' [past, b, h, d]
//   present = Concat past x, axis 2       becomes       past = Transpose past';  present' = Concat past' (Transpose x), axis 0
//                                                       present = Transpose present'
//
// Readers see what they saw, and kernels of attention read transposed values where they lie. A state that keeps its shape is written as a whole at
// the end of a run.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "compiler/ops/operator.h"
#include "compiler/passes/passes.h"
#include "compiler/support/error_codes.h"

namespace onnxc {
namespace {

[[noreturn]] void refuse(const std::string& past, const std::string& present, const std::string& found) {
  throw Error(ErrorCode::NotAState, fmt::format("'{}' cannot be the state behind '{}': {}", present, past, found),
              "leave it out of --state");
}

/// The position of the node that computes a value, behind Identity; -1 where there is none.
int source_of(const Graph& graph, const PerValue<int>& definition, ValueId value) {
  int at = definition[value];
  while (at >= 0 && graph.node(at).is("Identity")) at = definition[graph.node(at).inputs[0]];
  return at;
}
ValueId behind_identities(const Graph& graph, const PerValue<int>& definition, ValueId value) {
  while (definition[value] >= 0 && graph.node(definition[value]).is("Identity")) value = graph.node(definition[value]).inputs[0];
  return value;
}

/// A run checks what is not known of the shapes.
void keep_shape(Graph& graph, const Type& past, const Type& present, const std::string& past_name, const std::string& present_name) {
  for (std::size_t axis = 0; axis < past.extents.size(); ++axis) {
    const Dim a = past.extents[axis], b = present.extents[axis];
    if (a == b) continue;
    if (never_equal(a, b) || a.depends_on_run() || b.depends_on_run())
      refuse(past_name, present_name,
             fmt::format("it is {}, that is {}, and it is no Concat of that and more", present.text(), past.text()));
    graph.requirements.push_back({b, a, Requirement::Kind::Equal, fmt::format("the state '{}'", present_name)});
  }
}

void place(Graph& graph, State& state) {
  const ValueId past = graph.inputs[static_cast<std::size_t>(state.past)], present = graph.outputs[static_cast<std::size_t>(state.present)];
  const std::string past_name = graph[past].name, present_name = graph[present].name;
  const Type &from = graph[past].type, &to = graph[present].type;
  if (!from.is_tensor() || !to.is_tensor() || !from.ranked || !to.ranked || from.element != to.element || from.rank() != to.rank())
    refuse(past_name, present_name, fmt::format("they are {} and {}", from.text(), to.text()));
  if (from.extents == to.extents) return;
  const PerValue<int> definition = definitions(graph);
  const int at = source_of(graph, definition, present);
  const bool appends = at >= 0 && graph.node(at).is("Concat") && graph.node(at).own_inputs() >= 2 && !graph.node(at).epilogue &&
                       behind_identities(graph, definition, graph.node(at).inputs[0]) == past;
  if (!appends) return keep_shape(graph, from, to, past_name, present_name);
  const Node concat = graph.node(at);
  const int64_t rank = from.rank(), given = concat.integer("axis", 0), axis = given < 0 ? given + rank : given;
  const bool outermost = std::all_of(from.extents.begin(), from.extents.begin() + axis, [](Dim d) { return d == Dim(1); });
  std::vector<int64_t> perm(static_cast<std::size_t>(rank)), back(perm.size());
  std::iota(perm.begin(), perm.end(), int64_t{0});
  if (!outermost) state.axis = static_cast<int>(axis);
  if (!outermost) std::rotate(perm.begin(), perm.begin() + axis, perm.begin() + axis + 1);
  for (std::size_t k = 0; k < perm.size(); ++k) back[static_cast<std::size_t>(perm[k])] = static_cast<int64_t>(k);

  int fresh = first_fresh(graph);
  const auto turned = [&](GraphBuilder& b, ValueId v, const std::vector<int64_t>& order) {
    return outermost ? v : b.op("Transpose", {v}, {{"perm", order}});
  };
  Type own = from;
  for (std::size_t k = 0; k < perm.size(); ++k) own.extents[k] = from.extents[static_cast<std::size_t>(perm[k])];
  const ValueId state_past = outermost ? past : graph.add_value(past_name, own);
  GraphBuilder before(graph, past_name, fresh), there(graph, present_name, fresh);
  const ValueId seen = turned(before, state_past, back);
  std::vector<ValueId> parts{state_past};
  for (int k = 1; k < concat.own_inputs(); ++k) parts.push_back(turned(there, concat.inputs[static_cast<std::size_t>(k)], perm));
  const ValueId joined = there.op("Concat", parts, {{"axis", outermost ? axis : int64_t{0}}}), result = turned(there, joined, back);

  std::vector<Node> nodes = before.take();
  for (int i = 0; i < static_cast<int>(graph.nodes.size()); ++i) {
    if (i == at) std::ranges::move(there.take(), std::back_inserter(nodes));
    else nodes.push_back(std::move(graph.node(i)));
  }
  graph.nodes = std::move(nodes);
  replace_uses(graph, concat.outputs[0], result);
  if (!outermost) {
    for (Node& node : graph.nodes) {
      const bool is_own = std::ranges::find(node.inputs, state_past) != node.inputs.end();
      if (is_own) continue;
      std::ranges::replace(node.inputs, past, seen);
      std::ranges::replace(node.captures, past, seen);
    }
    std::ranges::replace(graph.outputs, past, seen);
    std::swap(graph[past].name, graph[state_past].name);
    graph.inputs[static_cast<std::size_t>(state.past)] = state_past;
  }
  graph.outputs[static_cast<std::size_t>(state.present)] = joined;
  std::swap(graph[present].name, graph[joined].name);
}

}  // namespace

Graph place_states(Graph graph) {
  for (State& state : graph.states) place(graph, state);
  return graph;
}

}  // namespace onnxc
