// Which device computes each node.
#pragma once
#include "compiler/lowering/lower_graph.h"

namespace onnxc {

struct DeviceAssignment {
  PerNode<Device> devices;                          ///< of the graph's nodes
  std::map<std::string, std::string> host_reasons;  ///< Program::host_reasons
  std::optional<DeviceCosts> costs{};               ///< Program::device_costs
};

/// Lowers the graph once as if the GPU could do everything, which tells what it cannot. Where LowerOptions::devices
/// leaves the choice, the graph is lowered once more for the processor, and a minimum cut decides (partition/partition.h).
/// `room`: bytes of weights that the GPU may hold. Throws Error{Unsupported} naming a node that may not be on the processor
/// and has no kernel on the GPU, and Error{Budget} if there is too little room.
DeviceAssignment assign_devices(const Graph& graph, const Target& target, const LowerOptions& options, int64_t room);

}  // namespace onnxc
