// Time against memory: which of several ways to lower a graph is taken.
#pragma once
#include <span>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/lowering/lower_graph.h"
#include "compiler/ops/kernel_query.h"

namespace onnxc {

/// What gives way where time and memory are at odds.
enum class MemoryGoal {
  Speed,     ///< the fastest kernels, whatever room they take
  Balanced,  ///< the least arena that costs at most a tenth of the time, as predicted
  Min,       ///< the least arena
};

/// As --memory has it.
const char* name(MemoryGoal goal);

struct Planned {
  Program program;  ///< with a memory plan
  std::vector<Choice> choices;
};

/// Lowers the graph, the first of `forms`, and plans its memory; the others compute the same in other ways. Kernels whose constants are larger than the model's are taken as far as these become at most
/// `weights_growth` times as large. For goals other than Speed the graph is lowered several times: with less and less room for what kernels keep between
/// their stages, and with the parts of a Concat in place or not; and so is each of the other forms.
Planned plan_for(MemoryGoal goal, std::span<const Graph> forms, const Target& target, const LowerOptions& options, double weights_growth);

}  // namespace onnxc
