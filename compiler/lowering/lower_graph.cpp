#include "compiler/lowering/lower_graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/lowering/assign_devices.h"
#include "compiler/lowering/concat_in_place.h"
#include "compiler/lowering/find_gates.h"
#include "compiler/lowering/find_quantize.h"
#include "compiler/lowering/lowerer.h"
#include "compiler/lowering/memory/plan_memory.h"
#include "compiler/lowering/share_epilogues.h"
#include "compiler/lowering/threads/align_shares.h"
#include "compiler/lowering/threads/concurrent_steps.h"
#include "compiler/lowering/threads/thread_workspaces.h"
#include "compiler/passes/assign_layouts.h"
#include "compiler/support/error_codes.h"
#include "runtime_stub/onnxc/contract/device_memory.hpp"

namespace onnxc {
namespace {

int64_t constant_bytes(const Graph& graph) {
  int64_t bytes = 0;
  for (const Value& value : graph.values) bytes += value.constant != nullptr ? static_cast<int64_t>(value.constant->bytes.size()) : 0;
  return bytes;
}

/// The cost of reading a byte of weights, relative to one from memory: the weights of a small model stay in a cache
/// from one run to the next.
double streaming_share(int64_t bytes, const Target& target) {
  const MemoryCosts& costs = target.machine->memory;
  return bytes <= target.l2_bytes / 2 ? costs.l2 : std::max(costs.l2, costs.memory * (bytes <= target.l3_bytes ? costs.l3 : 1.0));
}

/// Bytes of weights and, where sizes are known, of the arena.
int64_t bytes_on_gpu(Program program, const LowerOptions& options) {
  int64_t bytes = 0;
  for (const Buffer& b : program.buffers) {
    if (b.space == Buffer::Space::Weights && b.device == Device::Gpu && b.parent < 0) bytes += contract::device_room(b.bytes.value());
  }
  plan_program(program, options, false);
  return bytes + (program.device_arena.bytes.is_constant() ? program.device_arena.bytes.value() : 0);
}

}  // namespace

/// From layouts to steps, in order.
Program Lowerer::run(const Graph& graph, const PerNode<Device>& devices) {
  program_.name = graph.name;
  program_.requirements = graph.requirements;
  program_.arena.alignment = target_.alignment;
  steps_ = &program_.steps;
  for (std::size_t i = 0; i < devices.size(); ++i) devices_.emplace(&graph.nodes[i], devices[static_cast<int>(i)]);
  // Layouts are assigned before kernels are chosen: a kernel states the layout that it reads, and its producer has
  // already written its result.
  const bool on_gpu = target_.gpu != nullptr;  // which moves 16 bytes at once
  Scope scope{
      &graph,
      on_gpu ? assign_layouts(graph, 4, 16, false) : assign_layouts(graph, target_.vector_floats, 4, options_.math != Math::Reproducible),
      PerValue<std::vector<View>>(graph.values.size())};
  if (!options_.channels_last) std::fill(scope.layouts.begin(), scope.layouts.end(), Layout{});
  // Operands of a Concat may be computed inside its result, which must be known before the first of them is lowered.
  if (options_.optimise && target_.gpu == nullptr)
    scope.concat_operands = place_operands(graph, scope.layouts, !options_.operands_in_place);
  // Costs depend on whether all weights together stay in a cache.
  constant_bytes_ = constant_bytes(graph);
  streaming_ = streaming_share(constant_bytes_, target_);
  // Inputs and outputs come first, since producers write directly into the caller's memory.
  define_interface(scope);
  // Islands are found, and each other node gets the cheapest kernel, with packed weights, and copies where layouts
  // differ.
  lower_nodes(scope);
  // Outputs that were not computed in the caller's memory are copied there.
  write_results(scope);
  // Heap blocks that no output took over go back to the caller's allocator.
  release_owned();
  // On a small core a Relu takes as long as the conversion that makes it superfluous, and one to floats and back longer than a sum.
  if (target_.bare) {
    find_quantize(program_, true);
    if (options_.optimise) share_epilogues(program_);
  }
  return std::move(program_);
}

Program lower_graph(const Graph& graph, const Target& target, const LowerOptions& options, std::vector<Choice>* choices) {
  if (target.gpu == nullptr) return Lowerer(target, options, choices).run(graph);
  // Picks hold for the devices that nodes had when they were made, which are those without picks.
  LowerOptions unpicked = options;
  unpicked.picks.clear();
  unpicked.draft = options.draft || !options.picks.empty();
  // The arena is known once the program is, so weights get what it leaves, until both fit. If it alone is too large, nodes with
  // the largest values stay on the host.
  for (GpuRoom room{options.gpu_memory};;) {
    std::vector<Choice> chosen;
    DeviceAssignment assignment = assign_devices(graph, target, unpicked, room);
    const auto lower = [&](const LowerOptions& with) {
      chosen.clear();
      Lowerer lowerer(target, with, &chosen);
      Program lowered = lowerer.run(graph, assignment.devices);
      ONNXC_CHECK(lowerer.refused_by_gpu().empty(), "a node that a GPU takes in a draft is one that it takes");
      return lowered;
    };
    Program program = lower(unpicked);
    const int64_t excess = options.gpu_memory == INT64_MAX ? 0 : bytes_on_gpu(program, options) - options.gpu_memory;
    if (excess <= 0) {
      if (!options.picks.empty()) program = lower(options);
      program.host_reasons = std::move(assignment.host_reasons);
      program.device_costs = std::move(assignment.costs);
      if (choices != nullptr) choices->insert(choices->end(), chosen.begin(), chosen.end());
      return program;
    }
    if (room.weights > 0) {
      room.weights = std::max<int64_t>(0, std::min(room.weights, options.gpu_memory) - excess);
    } else if (room.values > 0) {
      room = {options.gpu_memory / 2, std::min(room.values, options.gpu_memory) / 2};
    } else {
      throw Error(ErrorCode::GpuMemory, fmt::format("{} bytes on the GPU are too few for the arena", options.gpu_memory),
                  "give --gpu-memory more, or compile for a processor");
    }
  }
}

void plan_program(Program& program, const LowerOptions& options, bool for_speed) {
  const bool optimise = options.optimise, shared = options.threads > 1;
  // A sigmoid and its product become one function of the runtime. This follows the choice of kernels, which counts
  // operations.
  find_gates(program);
  // So do the division, the rounding and the conversion of QuantizeLinear.
  find_quantize(program);
  // A result takes the memory of an operand that dies there. This precedes lifetimes, since buffers that share memory
  // have one lifetime.
  if (optimise) alias_buffers(program);
  // Independent steps share a fork of threads, so their buffers are live at once. This follows aliases, which would
  // make such steps dependent.
  if (optimise && shared) find_concurrent_steps(program);
  // The scratch memory of a thread stays at one place in all steps, so that it stays in that thread's cache. This
  // enlarges the arena.
  if (for_speed && optimise && shared) keep_thread_workspaces(program, options.threads);
  // Buffers get their offsets, once buffers and lifetimes are final.
  plan_memory(program);
  // Buffers move to where each thread wrote before, as far as the arena may grow.
  if (optimise && shared) align_shares(program, options.threads, for_speed);
}

}  // namespace onnxc
