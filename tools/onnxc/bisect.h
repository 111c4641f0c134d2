// onnxc bisect: the first value of a model that is computed wrongly.
#pragma once
#include "tools/onnxc/run.h"

namespace onnxc {

/// Compares values inside of the model with a reference, in the order of its nodes, and prints the first that departs, with its node, operator, errors and the
/// step that computes it. The reference is what files NAME.pb of the data set hold; where there are none, the same model built without optimisation.
/// 0 where nothing departs, else 1. `options.output` and `options.taps` mean nothing here.
int bisect_command(const RunOptions& options);

}  // namespace onnxc
