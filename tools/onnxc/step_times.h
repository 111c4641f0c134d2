// The time of each step of a unit, from the counters of --profile.
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
  int64_t calls = 0;                ///< in all runs; a step in a loop has several in a run, one in a branch may have none
  double run_ns = 0;                ///< time in a run: the median over the means of blocks of runs
  double mean_ns = 0, best_ns = 0;  ///< of one call
  /// For a step that threads share: the share of their time in which they work; 1 if all take equally long.
  std::optional<double> busy{};
};

struct StepTimes {
  std::vector<StepTime> steps;  ///< in their order
  int64_t runs = 0;
  double tick_ns = 0;
  double run_ns = 0;  ///< of a whole run, the median over blocks
  /// The part of a run that is spent in no step. It is a median as well, since what disturbs a block disturbs both.
  double between_ns = 0;
};

/// Runs the model in blocks for about `seconds`. `variant`: the profile's name of the program whose steps these are;
/// no other may run. Throws Error{Invalid} if a run fails.
StepTimes measure_steps(const onnxc_profile& profile, ModelCall& call, double seconds, int threads, std::string_view variant);

}  // namespace onnxc
