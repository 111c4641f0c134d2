// Weights within the memory of devices, whatever it costs.
#pragma once
#include <vector>

#include "compiler/lowering/partition/problem.h"

namespace onnxc::partition {

/// Devices that keep the limits: those of `wish` where they leave room, large nodes first. With a limit on one device alone this always ends with Found
/// or NoRoom. With several it is a problem of packing, for which a bounded search is made. For problems as merge_islands gives them, of which each node can
/// run somewhere. The result has an outcome and devices, no costs.
Partition fit_weights(const Problem& problem, const std::vector<int>& wish);

}  // namespace onnxc::partition
