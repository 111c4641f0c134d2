// Which device computes each node.
#pragma once
#include "compiler/lowering/lower_graph.h"

namespace onnxc {

struct DeviceAssignment {
  PerNode<Device> devices;                          ///< of the graph's nodes
  std::map<std::string, std::string> host_reasons;  ///< Program::host_reasons
  std::optional<DeviceCosts> costs{};               ///< Program::device_costs
};

/// What the GPU's memory may hold.
struct GpuRoom {
  int64_t weights = INT64_MAX;  ///< bytes of all weights there
  int64_t values = INT64_MAX;   ///< bytes of what one node reads and writes
};

/// Lowers the graph once as if the GPU could do everything, which tells what it cannot. Where LowerOptions::devices
/// leaves the choice, the graph is lowered once more for the processor, and a minimum cut decides (partition/partition.h).
/// Throws Error{Unsupported} naming a node that may not be on the processor
/// and has no kernel on the GPU, and Error{Budget} if there is too little room.
DeviceAssignment assign_devices(const Graph& graph, const Target& target, const LowerOptions& options, GpuRoom room);

}  // namespace onnxc
