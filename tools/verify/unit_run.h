// One run of a unit in a process of its own, so that a crash or an endless loop is a result like others.
#pragma once
#include <vector>

#include "tools/driver/compile_unit.h"
#include "tools/verify/oracle.h"

namespace onnxc {

struct RunLimits {
  int threads = 1;
  double seconds = 600;  ///< a run that takes longer counts as one without an end
};

/// Runs the unit. `inputs`: one for each of its inputs, in order. Throws Error{Io} if there is no process to be had.
Answer run_unit(const onnxc_model& unit, const std::vector<const HostValue*>& inputs, const RunLimits& limits);

}  // namespace onnxc
