// The order in which nodes run decides how many bytes live at once. This finds one with a low peak.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace onnxc {

/// A node as the search sees it. Values are numbers into `bytes`.
struct OrderedNode {
  std::vector<int> reads, writes;  ///< each value once
  /// Values read whose memory a value written may take, where they die here.
  std::vector<int> reuses{};
};

struct OrderProblem {
  std::vector<int64_t> bytes;      ///< of each value; 0 where it takes no memory of ours: inputs, outputs, constants
  std::vector<OrderedNode> nodes;  ///< in an order in which every value is written, if at all, before it is read
};

struct NodeOrder {
  std::vector<int> order;  ///< of nodes
  int64_t peak = 0;        ///< bytes, as `peak_bytes` has it
  bool exact = false;      ///< no order has a lower peak
};

/// The bytes that live while each node runs, in the given order: what it reads, what it writes, and what later nodes read.
std::vector<int64_t> live_bytes(const OrderProblem& problem, std::span<const int> order);
/// The most of them.
int64_t peak_bytes(const OrderProblem& problem, std::span<const int> order);

/// Beam search over the sets of nodes that have run; `width` sets of each size are kept, those with the least peak. Where no more than that exist,
/// the search is complete. The order given stands unless another has a lower peak, and where `effort`, counted in nodes and values that are looked at,
/// does not suffice: about half a second by default. Deterministic.
NodeOrder find_node_order(const OrderProblem& problem, int width = 64, int64_t effort = 20'000'000);

}  // namespace onnxc
