#include "compiler/lowering/memory_goal.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "compiler/lowering/plan_memory.h"
#include "compiler/lowering/weights_budget.h"

namespace onnxc {
namespace {

Planned plan(const Graph& graph, const Target& target, LowerOptions options, double most_times) {
  Planned result;
  result.program = lower_graph(graph, target, options, &result.choices);
  // Some kernels gain time by larger weights. Where they gain too much of that, other candidates take their place.
  if (const int64_t most = growth_limit(result.program, result.choices, most_times); weights_growth(result.choices) > most) {
    options.picks = picks_within(result.choices, most);
    result = {};
    result.program = lower_graph(graph, target, options, &result.choices);
  }
  if (options.optimise) alias_buffers(result.program);
  plan_memory(result.program);
  return result;
}

/// With all weights as floats: which plan is taken does not depend on how they are stored.
double plain_ns(const Planned& planned) {
  double ns = predicted_ns(planned.program);
  for (const Choice& choice : planned.choices) ns += chosen_kernel(choice).cost_ns - choice.candidates[choice.winner].cost_ns;
  return ns;
}

}  // namespace

const char* name(MemoryGoal goal) { return goal == MemoryGoal::Min ? "min" : goal == MemoryGoal::Balanced ? "balanced" : "speed"; }

Planned plan_for(MemoryGoal goal, std::span<const Graph> forms, const Target& target, const LowerOptions& options, double weights_growth) {
  Planned best = plan(forms[0], target, options, weights_growth);
  if (goal == MemoryGoal::Speed || !options.optimise) return best;
  constexpr int64_t kLeastWorkspace = 16 << 10;
  const double slowest = goal == MemoryGoal::Balanced ? 1.1 * plain_ns(best) : std::numeric_limits<double>::infinity();
  for (const Graph& graph : forms) {
    const bool has_concat = std::ranges::any_of(forms[0].nodes, [](const Node& node) { return node.is("Concat"); });
    for (const bool parts_in_place : has_concat ? std::vector<bool>{true, false} : std::vector<bool>{true}) {
      for (int64_t workspace = target.workspace_bytes(); workspace >= kLeastWorkspace; workspace /= 4) {
        if (&graph == &forms[0] && parts_in_place && workspace == target.workspace_bytes()) continue;  // the first plan
        Target lean = target;
        lean.workspace = workspace;
        LowerOptions attempt = options;
        attempt.parts_in_place = parts_in_place;
        Planned next = plan(graph, lean, attempt, weights_growth);
        const auto rank = [](const Planned& p) { return std::pair(likely_arena(p.program).bytes, plain_ns(p)); };
        if (plain_ns(next) <= slowest && rank(next) < rank(best)) best = std::move(next);
      }
    }
  }
  return best;
}

}  // namespace onnxc
