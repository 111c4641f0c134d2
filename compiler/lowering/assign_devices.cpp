#include "compiler/lowering/assign_devices.h"

#include "compiler/lowering/lowerer.h"

namespace onnxc {

PerNode<Device> assign_devices(const Graph& graph, const Target& target, const LowerOptions& options) {
  LowerOptions draft = options;
  draft.draft = true;
  PerNode<Device> devices(graph.nodes.size(), Device::Gpu);
  Lowerer lowerer(target, draft, nullptr);
  lowerer.run(graph, devices);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (lowerer.refused_by_gpu().contains(&graph.nodes[i])) devices[static_cast<int>(i)] = Device::Cpu;
  }
  return devices;
}

}  // namespace onnxc
