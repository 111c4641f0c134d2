// Loop as its shape rule and its lowering see it.
#pragma once
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "compiler/ir/graph.h"

namespace onnxc {

/// The number of values that a Loop carries from one iteration to the next. Its body takes the number of the
/// iteration, the condition, these values and the captures; it returns the condition, these values and the scan
/// outputs.
std::size_t loop_carried(const Node& node);

/// What is known of a Loop that is inferred repeatedly, once in each trial of a surrounding Loop. Extents that vary
/// under some types also vary under more general ones. So a later inference begins where an earlier one ended, and
/// walks the body once.
struct LoopTrials {
  std::set<std::pair<std::size_t, std::size_t>> varying;  ///< carried values, and axes of them
  std::vector<Type> settled;                              ///< the types of the carried values in the last inference
  std::shared_ptr<LoopTrials> inner;                      ///< of a Scan of opset 8, which becomes two Loops: that of the inner one
};

struct LoopTrips {
  /// The largest number of iterations; the exact number if nothing else ends the loop.
  std::optional<Dim> most;
  bool conditional = false;  ///< a condition may end it
};
LoopTrips loop_trips(const Graph& graph, const Node& node);

}  // namespace onnxc
