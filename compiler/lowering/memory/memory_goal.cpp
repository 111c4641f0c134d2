#include "compiler/lowering/memory/memory_goal.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "compiler/lowering/lower_graph.h"
#include "compiler/lowering/memory/plan_memory.h"
#include "compiler/select/weights/stored.h"
#include "compiler/select/weights_budget.h"

namespace onnxc {
namespace {

/// A way to lower a graph.
struct Way {
  const Graph* graph;
  Target target;
  LowerOptions options;
};

Planned lower(const Way& way) {
  Planned result;
  result.program = lower_graph(*way.graph, way.target, way.options, &result.choices);
  return result;
}

void plan(Planned& planned, const LowerOptions& options, MemoryGoal goal) {
  plan_program(planned.program, options, goal == MemoryGoal::Speed);
}

/// Some kernels are faster with larger weights. If the weights exceed their limit, picks other kernels for `way`.
/// Returns a draft with these picks.
Planned pick_within(Way& way, double most_times) {
  way.options.draft = true;
  Planned draft = lower(way);
  if (const int64_t most = growth_limit(draft.program, draft.choices, most_times); weights_growth(draft.choices) > most) {
    way.options.picks = picks_within(draft.choices, most);
    draft = lower(way);
  }
  way.options.draft = false;
  return draft;
}

/// The predicted time with all weights stored as floats, so that the choice of a plan does not depend on their
/// storage.
double ns_with_f32_weights(const Planned& planned) {
  double ns = predicted_ns(planned.program);
  for (const Choice& choice : planned.choices) ns += chosen_kernel(choice).cost_ns - choice.candidates[choice.winner].cost_ns;
  return ns;
}

}  // namespace

const char* name(MemoryGoal goal) { return goal == MemoryGoal::Min ? "min" : goal == MemoryGoal::Balanced ? "balanced" : "speed"; }

Planned plan_for(MemoryGoal goal, std::span<const Graph> forms, const Target& target, const LowerOptions& options, double weights_growth) {
  constexpr int64_t kLeastWorkspace = 16 << 10;
  Way best{&forms[0], target, options};
  best.options.storages = std::make_shared<KnownStorages>();
  Planned draft = pick_within(best, weights_growth);
  if (goal != MemoryGoal::Speed && options.optimise) {
    plan(draft, options, goal);
    const auto rank = [](const Planned& p) { return std::pair(likely_arena(p.program).bytes, ns_with_f32_weights(p)); };
    const double slowest = goal == MemoryGoal::Balanced ? 1.1 * ns_with_f32_weights(draft) : std::numeric_limits<double>::infinity();
    const bool has_concat = std::ranges::any_of(forms[0].nodes, [](const Node& node) { return node.is("Concat"); });
    auto least = rank(draft);
    for (const Graph& graph : forms) {
      for (const bool operands_in_place : has_concat ? std::vector<bool>{true, false} : std::vector<bool>{true}) {
        for (int64_t workspace = target.workspace_bytes(); workspace >= kLeastWorkspace; workspace /= 4) {
          if (&graph == &forms[0] && operands_in_place && workspace == target.workspace_bytes()) continue;  // the first way
          Way way{&graph, target, options};
          way.options.storages = best.options.storages;
          way.target.workspace = workspace;
          way.options.operands_in_place = operands_in_place;
          draft = pick_within(way, weights_growth);
          plan(draft, options, goal);
          if (ns_with_f32_weights(draft) > slowest || rank(draft) >= least) continue;
          least = rank(draft);
          best = std::move(way);
        }
      }
    }
  }
  Planned result = lower(best);
  plan(result, options, goal);
  return result;
}

}  // namespace onnxc
