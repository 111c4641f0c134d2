// Islands: groups of nodes that one kernel computes.
//
//   Conv -> Conv -> Conv      depthwise_chain, as the last Conv; the other two are not lowered by themselves
//
// The nodes of an island are read by its other nodes alone: most form a chain. Islands are matched from their
// last node backwards, before anything is lowered.
#pragma once
#include <span>
#include <vector>

#include "compiler/ir/device.h"
#include "compiler/select/islands/surroundings.h"

namespace onnxc {

class KernelQuery;
struct Target;

/// One kind of island.
struct Island {
  /// The nodes before `last`, in order, that its kernel computes as well. Empty where `last` does not end such an
  /// island.
  std::vector<const Node*> (*match)(const Surroundings& around, const Node& last, const Target& target);
  /// Lowers the whole island as `last`, whose KernelQuery::absorbed returns the other nodes.
  void (*lower)(KernelQuery& last);
  Device device = Device::Cpu;  ///< that all its nodes are on
};

/// All kinds, in the order in which they are tried.
std::span<const Island> all_islands();

}  // namespace onnxc
