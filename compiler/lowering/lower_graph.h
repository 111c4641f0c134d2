// From Graph to Program. lower_graph.cpp is the table of contents: every stage in order, with its reason.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/program.h"
#include "compiler/ops/kernel_query.h"
#include "compiler/select/choice.h"
#include "compiler/select/tuning.h"

namespace onnxc {

/// Who may compute, for a target with a GPU.
enum class Devices {
  Auto,       ///< whichever is predicted to end sooner, transfers included
  Gpu,        ///< the GPU alone: a node that has no kernel there is refused
  GpuAndCpu,  ///< the GPU all that it can, the processor the rest
};

struct LowerOptions {
  bool optimise = true;
  bool small = false;  ///< the least code and weights: no kernels that mix values, and few kinds of kernels
  Math math = Math::Default;
  NarrowWeights narrow_weights = NarrowWeights::Auto;
  bool flush_weights = false;        ///< subnormal numbers among packed weights become zeros, and values may
  bool heap = true;                  ///< false: memory whose size has no bound is refused
  int64_t max_trip = 1'000'000'000;  ///< iterations of loops that state no number
  bool channels_last = true;
  Devices devices = Devices::Auto;
  int64_t gpu_memory = INT64_MAX;  ///< bytes on the GPU for weights and arena; without known sizes, for weights
  int threads = 1;
  /// Operands of a Concat are computed inside its result, which then is live from the first of them on. False: only
  /// where it joins rows of an image.
  bool operands_in_place = true;
  const Tuning* tuning = nullptr;             ///< measured times, which replace predicted costs; may be null
  bool draft = false;                         ///< only costs and sizes are wanted: large constants are not packed
  std::shared_ptr<KnownStorages> storages{};  ///< shared by several lowerings of the same constants; may be null
  std::vector<std::size_t> picks{};           ///< the candidate to take for each choice, by number; without an entry the cheapest
  std::vector<std::string> output_names{};    ///< names in the interface; empty: those of the values
  /// Outputs that callers pass as an onnxc_value although their size has a bound. Empty: none.
  std::vector<bool> value_outputs{};
};

/// Chooses layouts and kernels, packs weights and makes the steps, without a memory plan. `choices` may be null.
/// For a target with a GPU, nodes are spread over it and the processor (assign_devices.h); those of regions run on the processor.
Program lower_graph(const Graph& graph, const Target& target, const LowerOptions& options, std::vector<Choice>* choices);

/// Finds what steps may share, and plans the memory. `for_speed`: the arena may grow where that helps threads.
void plan_program(Program& program, const LowerOptions& options, bool for_speed);

}  // namespace onnxc
