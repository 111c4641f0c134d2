// The best partition over any number of devices, where few values live at once.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/lowering/partition/problem.h"

namespace onnxc::partition {

struct Walk {
  std::vector<int> devices;  ///< of each node
  bool exact = true;         ///< no partition costs less
  int64_t states = 0;        ///< that were looked at, of all steps together: the work
};

/// Looks at no limits but counts `price_ns[d]`, if given, for each byte of weights on device d. Where it would take more than `most_states`, only the cheapest
/// states of each step are followed, which is not exact. Every node and island can run somewhere.
Walk walk_places(const Problem& problem, const std::vector<double>& price_ns = {}, int64_t most_states = 1 << 20);

}  // namespace onnxc::partition
