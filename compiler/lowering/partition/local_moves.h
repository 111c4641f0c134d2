// A partition made better by moving single nodes.
#pragma once
#include <vector>

#include "compiler/lowering/partition/problem.h"

namespace onnxc::partition {

/// Moves nodes to other devices as long as this pays, within the limits. `devices` keeps the limits, and so does the result, which costs no more.
/// For problems as merge_islands gives them.
std::vector<int> move_nodes(const Problem& problem, std::vector<int> devices);

}  // namespace onnxc::partition
