#include "compiler/lowering/lower_graph.h"

#include <algorithm>

#include "compiler/lowering/concat_in_place.h"
#include "compiler/lowering/find_gates.h"
#include "compiler/lowering/lowerer.h"
#include "compiler/lowering/memory/plan_memory.h"
#include "compiler/lowering/threads/concurrent_steps.h"
#include "compiler/lowering/threads/part_workspaces.h"
#include "compiler/lowering/threads/shared_offsets.h"
#include "compiler/passes/assign_layouts.h"

namespace onnxc {
namespace {

/// What it takes to read a byte of weights against one from memory: those of a small model stay in a cache from one run to the next.
double streaming_share(const Graph& graph, const Target& target) {
  int64_t bytes = 0;
  for (const Value& value : graph.values) bytes += value.constant != nullptr ? static_cast<int64_t>(value.constant->bytes.size()) : 0;
  const MemoryCosts& costs = target.machine->memory;
  return bytes <= target.l2_bytes / 2 ? costs.l2 : std::max(costs.l2, costs.memory * (bytes <= target.l3_bytes ? costs.l3 : 1.0));
}

}  // namespace

/// From layouts to steps, in order.
Program Lowerer::run(const Graph& graph) {
  program_.name = graph.name;
  program_.requirements = graph.requirements;
  steps_ = &program_.steps;
  // Layouts come before kernels: a kernel states what it reads, and whoever made it has written that already.
  Scope scope{&graph, assign_layouts(graph, target_.vector_floats), std::vector<std::vector<View>>(graph.values.size())};
  if (!options_.channels_last) std::fill(scope.layouts.begin(), scope.layouts.end(), Layout{});
  // What a Concat joins is computed inside its result, which has to be known before its first operand is.
  if (options_.optimise) scope.parts = place_parts(graph, scope.layouts, !options_.parts_in_place);
  // Costs depend on whether all weights together stay in a cache.
  streaming_ = streaming_share(graph, target_);
  // Inputs and outputs first: producers write straight into the caller's memory.
  define_interface(scope);
  // Islands, then the cheapest kernel for each other node, with its weights packed and copies where layouts differ.
  lower_nodes(scope);
  // What was not computed in the caller's memory is copied there.
  write_results(scope);
  // Heap blocks that nobody took go back to the caller's allocator.
  release_owned();
  return std::move(program_);
}

Program lower_graph(const Graph& graph, const Target& target, const LowerOptions& options, std::vector<Choice>* choices) {
  return Lowerer(target, options, choices).run(graph);
}

void plan_program(Program& program, const LowerOptions& options, bool for_speed) {
  const bool optimise = options.optimise, shared = options.threads > 1;
  // A sigmoid and its product are one function of the runtime. After the choice of kernels, which counts operations.
  find_gates(program);
  // A result takes the memory of an operand that dies there. Before lifetimes: what shares memory lives as one.
  if (optimise) alias_buffers(program);
  // Steps that share a fork of threads live at once. After aliases, which would tie such steps together.
  if (optimise && shared) find_concurrent_steps(program);
  // Scratch of a thread keeps its place from step to step, so that it stays in that thread's cache. It grows the arena.
  if (for_speed && optimise && shared) keep_part_workspaces(program, options.threads);
  // Offsets, once buffers and lifetimes are final.
  plan_memory(program);
  // Buffers move to where each thread wrote before, as far as the arena may grow.
  if (optimise && shared) align_shares(program, options.threads, for_speed);
}

}  // namespace onnxc
