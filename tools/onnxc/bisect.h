// onnxc bisect: finds the first value of a model that is computed wrongly.
#pragma once
#include "tools/onnxc/run.h"

namespace onnxc {

/// Compares values inside the model with a reference, in the order of its nodes, and prints the first one that
/// differs, with its node, operator, errors and the step that computes it. The reference is in files NAME.pb of the
/// data set; if there are none, it is the same model built without optimisation. Returns 0 if nothing differs, else
/// 1. `options.output` and `options.taps` are ignored.
int bisect_command(const RunOptions& options);

}  // namespace onnxc
