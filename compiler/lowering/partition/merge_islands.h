// Islands as single nodes, so that the ways to partition need to know nothing of them.
#pragma once
#include <vector>

#include "compiler/lowering/partition/problem.h"

namespace onnxc::partition {

struct Merged {
  /// No islands and no fixed nodes: these cost kNoKernel elsewhere. No node reads its own value, and each reads a value once. The order need not be
  /// topological: a node outside may read from an island and be read by it.
  Problem problem;
  std::vector<int> merged;  ///< the node of `problem` that stands for each node
  std::vector<int> first;   ///< the first node that each node of `problem` stands for

  std::vector<int> of_each_node(const std::vector<int>& devices) const;    ///< from devices of the merged nodes
  std::vector<int> of_each_island(const std::vector<int>& devices) const;  ///< the other way round
  int node_without_device() const;                                         ///< the first merged node that can run nowhere, or kNone
};

Merged merge_islands(const Problem& problem);

}  // namespace onnxc::partition
