// Two devices with little memory.
#pragma once
#include "compiler/lowering/partition/problem.h"

namespace onnxc::partition {

/// The best partition over two devices where its weights fit, else a good one within the limits, with a bound of how good any could be. For problems as
/// merge_islands gives them, of which each node can run somewhere.
Partition cut_within_memory(const Problem& problem);

}  // namespace onnxc::partition
