// The best partition over two devices, as a minimum cut.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "compiler/lowering/partition/problem.h"

namespace onnxc::partition {

struct Cut {
  std::vector<int> devices;  ///< of each node
  double slack_ns = 0;       ///< no partition costs less by more than this: what rounding may have hidden, 0 for multiples of 2^-20 ns
  int64_t work = 0;          ///< arcs of the network that were looked at
};

/// The partition of least cost over devices 0 and 1, where each byte of weights on device d costs `price_ns[d]` as well; limits are not looked at. Of all that
/// cost the same, the one with the fewest nodes on device 1. For problems as merge_islands gives them, of which each node can run somewhere.
/// Costs are rounded to 2^-20 ns; to coarser powers of two where they sum to more than 9 minutes.
Cut minimum_cut(const Problem& problem, std::array<double, 2> price_ns = {});

}  // namespace onnxc::partition
