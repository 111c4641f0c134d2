// Islands: several nodes that one kernel computes.
//
//   Conv -> Conv -> Conv      depthwise_chain, as the last Conv; the other two are not lowered by themselves
//
// The nodes of an island lie one behind the other, and what one makes, the next one alone reads. They are found from their last node back,
// before anything is lowered.
#pragma once
#include <span>
#include <vector>

#include "compiler/select/islands/surroundings.h"

namespace onnxc {

class KernelQuery;
struct Target;

/// One kind of them.
struct Island {
  /// The nodes before `last`, in order, that its kernel computes as well; empty where `last` does not end such an island.
  std::vector<const Node*> (*match)(const Surroundings& around, const Node& last, const Target& target);
  /// Lowers them all as `last`, whose KernelQuery::absorbed gives the others.
  void (*lower)(KernelQuery& last);
};

/// All kinds, in the order in which they are tried.
std::span<const Island> all_islands();

}  // namespace onnxc
