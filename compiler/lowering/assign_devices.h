// Which device computes each node.
#pragma once
#include "compiler/lowering/lower_graph.h"

namespace onnxc {

struct DeviceAssignment {
  PerNode<Device> devices;                          ///< of the graph's nodes
  std::map<std::string, std::string> host_reasons;  ///< Program::host_reasons
};

/// The GPU for each node that it has kernels for, the processor for others. Found by lowering the graph once as if the GPU could do everything.
DeviceAssignment assign_devices(const Graph& graph, const Target& target, const LowerOptions& options);

}  // namespace onnxc
