// Any number of devices, with or without limits on their memory.
#pragma once
#include <cstdint>

#include "compiler/lowering/partition/problem.h"

namespace onnxc::partition {

/// The best partition where a walk over the places of live values is exact and its weights fit; else a good one. `most_states` bounds the walk.
/// The problem has passed check_problem, and each island can run somewhere.
Partition partition_many(const Problem& problem, int64_t most_states = 1 << 20);

}  // namespace onnxc::partition
