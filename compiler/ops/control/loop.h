// Loop, as its shape rule and its lowering see it.
#pragma once
#include <optional>

#include "compiler/ir/graph.h"

namespace onnxc {

/// How many values a Loop carries from one iteration to the next. Its body takes the number of the iteration, the condition, these values and the
/// captures; it gives the condition, these values and the scan outputs.
std::size_t loop_carried(const Node& node);

struct LoopTrips {
  std::optional<Dim> most;   ///< at most so many iterations; exactly so many where nothing else ends the loop
  bool conditional = false;  ///< a condition may end it
};
LoopTrips loop_trips(const Graph& graph, const Node& node);

}  // namespace onnxc
