#include "compiler/lowering/assign_devices.h"

#include "compiler/lowering/lowerer.h"

namespace onnxc {

PerNode<Device> assign_devices(const Graph& graph, const Target& target, const LowerOptions& options) {
  LowerOptions draft = options;
  draft.draft = true;
  draft.devices.assign(graph.nodes.size(), Device::Gpu);
  Lowerer lowerer(target, draft, nullptr);
  lowerer.run(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const bool refused = lowerer.refused_by_gpu().contains(&graph.nodes[i]);
    draft.devices[static_cast<int>(i)] = refused ? Device::Cpu : Device::Gpu;
  }
  return std::move(draft.devices);
}

}  // namespace onnxc
