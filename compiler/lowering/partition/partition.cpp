#include "compiler/lowering/partition/partition.h"

#include "compiler/lowering/partition/many_devices.h"
#include "compiler/lowering/partition/memory_price.h"
#include "compiler/lowering/partition/merge_islands.h"

namespace onnxc::partition {

Partition find_partition(const Problem& problem) {
  check_problem(problem);
  const Merged merged = merge_islands(problem);
  if (const int node = merged.node_without_device(); node != kNone) return {Outcome::NoDevice, merged.first[node]};
  if (problem.devices != 2) return partition_many(problem);
  Partition result = cut_within_memory(merged.problem);
  result.devices = result.outcome == Outcome::Found ? merged.of_each_node(result.devices) : std::vector<int>{};
  return result;
}

}  // namespace onnxc::partition
