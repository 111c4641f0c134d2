// Finds an order of the nodes in which fewer bytes are live at once.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/ir/ids.h"

namespace onnxc {

/// A node as the search sees it.
struct OrderedNode {
  std::vector<ValueId> reads, writes;  ///< each value once
  /// Values read here whose memory a result may take if they die here.
  std::vector<ValueId> reuses{};
};

struct OrderProblem {
  /// 0 for values that are not in the arena: inputs, outputs, constants.
  PerValue<int64_t> bytes;
  std::vector<OrderedNode> nodes;  ///< in an order in which values are written before they are read

  const OrderedNode& node(int position) const { return nodes[static_cast<std::size_t>(position)]; }
};

struct NodeOrder {
  std::vector<int> order;  ///< of nodes
  int64_t peak = 0;        ///< bytes, as from `peak_bytes`
  bool exact = false;      ///< no order has a lower peak
};

/// The bytes that are live while each node runs in the given order: what it reads, what it writes, and what later
/// nodes read.
std::vector<int64_t> live_bytes(const OrderProblem& problem, std::span<const int> order);
/// The largest of these.
int64_t peak_bytes(const OrderProblem& problem, std::span<const int> order);

/// Beam search over the sets of nodes that have run. It keeps `width` sets of each size, those with the lowest peak;
/// if there are never more, the search is complete. Returns the given order unless another one has a lower peak, or
/// if `effort`, counted in nodes and values looked at, does not suffice; the default takes about half a second.
/// Deterministic.
NodeOrder find_node_order(const OrderProblem& problem, int width = 64, int64_t effort = 20'000'000);

}  // namespace onnxc
