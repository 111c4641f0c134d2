// How long each step of a unit takes, by the counters of --profile.
#pragma once
#include <onnxc/profile.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/driver/model_call.h"

namespace onnxc {

struct StepTime {
  int number = 0;                   ///< as in the description
  int64_t calls = 0;                ///< of all runs; a step in a loop has several a run, one in a branch perhaps none
  double run_ns = 0;                ///< what a run spends in it: each block of runs gives a mean, and this is their median
  double mean_ns = 0, best_ns = 0;  ///< of one call
  std::optional<double>
      busy{};  ///< of a step that threads share: the part of their time that they work in it; 1 where all take equally long
};

struct StepTimes {
  std::vector<StepTime> steps;  ///< in their order
  int64_t runs = 0;
  double tick_ns = 0;
  double run_ns = 0;      ///< of a whole run, the median over blocks
  double between_ns = 0;  ///< what of it is spent in no step: again a median, as what disturbs a block disturbs both of its sides
};

/// Runs the model in blocks for about so many seconds. `variant`: whose steps these are, as the profile calls it; no other's may run. Throws Error{Invalid} where a
/// run fails.
StepTimes measure_steps(const onnxc_profile& profile, ModelCall& call, double seconds, int threads, std::string_view variant);

}  // namespace onnxc
