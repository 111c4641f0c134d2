// Two of many devices as a problem of their own.
#pragma once
#include <vector>

#include "compiler/lowering/partition/problem.h"

namespace onnxc::partition {

struct Pair {
  Problem problem;         ///< costs differ between its partitions as they do between those of the whole problem
  std::vector<int> nodes;  ///< of the whole problem
};

/// The nodes that `devices` has on a and b, which become 0 and 1; all others stay. For problems as merge_islands gives them.
Pair pair_of(const Problem& problem, const std::vector<int>& devices, int a, int b);

}  // namespace onnxc::partition
