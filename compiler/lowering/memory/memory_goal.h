// Time against memory: the choice among several ways to lower a graph.
#pragma once
#include <span>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/lowering/lower_graph.h"
#include "compiler/ops/kernel_query.h"

namespace onnxc {

/// What is sacrificed where time and memory conflict.
enum class MemoryGoal {
  Speed,     ///< the fastest kernels, whatever memory they take
  Balanced,  ///< the smallest arena whose predicted time is at most a tenth longer
  Min,       ///< the smallest arena
};

/// As --memory has it.
const char* name(MemoryGoal goal);

struct Planned {
  Program program;  ///< with a memory plan
  std::vector<Choice> choices;
};

/// Lowers the graph, which is the first of `forms`, and plans its memory. The other forms compute the same in other
/// ways. Kernels whose packed weights are larger than the model's are chosen as long as all weights together become
/// at most `weights_growth` times as large. For goals other than Speed each form is lowered several times: with less
/// and less room for what kernels keep between their stages, and with the operands of a Concat in place or not.
Planned plan_for(MemoryGoal goal, std::span<const Graph> forms, const Target& target, const LowerOptions& options, double weights_growth);

}  // namespace onnxc
