// Graph to Program. lower_graph.cpp is the table of contents: every stage in order, with its reason.
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

struct LowerOptions {
  bool optimise = true;
  Math math = Math::Default;
  NarrowWeights narrow_weights = NarrowWeights::Auto;
  bool flush_weights = false;        ///< packed weights below the smallest normal number are zeros
  bool heap = true;                  ///< false: refuse what has no bound
  int64_t max_trip = 1'000'000'000;  ///< of loops that have no number of iterations
  bool channels_last = true;
  int threads = 1;
  /// What a Concat wants is computed inside its result, which then lives as long as the first of them; false: only where it joins rows of an image.
  bool parts_in_place = true;
  const Tuning* tuning = nullptr;             ///< what was measured, in the place of predicted costs
  bool draft = false;                         ///< for costs and places alone: large constants are not packed
  std::shared_ptr<KnownStorages> storages{};  ///< what several lowerings of the same constants find out about them; may be null
  std::vector<std::size_t> picks{};           ///< the candidate to take, by the number of the choice; the cheapest where there is none
  std::vector<std::string> output_names{};    ///< of the interface; empty: those of the values
  std::vector<bool> value_outputs{};          ///< outputs that callers pass as an onnxc_value though their size has a bound; empty: none
};

/// Layouts, kernels, packed weights and steps, without a memory plan. `choices` may be null.
Program lower_graph(const Graph& graph, const Target& target, const LowerOptions& options, std::vector<Choice>* choices);

/// What is common between the steps, and the memory plan. `for_speed`: the arena may grow where that helps threads.
void plan_program(Program& program, const LowerOptions& options, bool for_speed);

}  // namespace onnxc
