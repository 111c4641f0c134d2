#include "compiler/lowering/assign_devices.h"

#include "compiler/lowering/lowerer.h"

namespace onnxc {

DeviceAssignment assign_devices(const Graph& graph, const Target& target, const LowerOptions& options) {
  LowerOptions draft = options;
  draft.draft = true;
  DeviceAssignment assignment{PerNode<Device>(graph.nodes.size(), Device::Gpu), {}};
  Lowerer lowerer(target, draft, nullptr);
  lowerer.run(graph, assignment.devices);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto refused = lowerer.refused_by_gpu().find(&graph.nodes[i]);
    if (refused == lowerer.refused_by_gpu().end()) continue;
    assignment.devices[static_cast<int>(i)] = Device::Cpu;
    const std::vector<ValueId>& outputs = graph.nodes[i].outputs;
    if (!outputs.empty() && outputs[0] != kAbsent) assignment.host_reasons.emplace(graph[outputs[0]].name, refused->second);
  }
  return assignment;
}

}  // namespace onnxc
