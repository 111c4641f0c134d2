// Loop, as its shape rule and its lowering see it.
#pragma once
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "compiler/ir/graph.h"

namespace onnxc {

/// How many values a Loop carries from one iteration to the next. Its body takes the number of the iteration, the condition, these values and the
/// captures; it gives the condition, these values and the scan outputs.
std::size_t loop_carried(const Node& node);

/// What was found out about a Loop that is inferred again and again, in each trial of a Loop around it. Extents that vary under some types also vary under
/// more general ones, so a later inference begins where an earlier one ended, and walks the body once.
struct LoopTrials {
  std::set<std::pair<std::size_t, std::size_t>> varying;  ///< carried values, and axes of theirs
  std::vector<Type> settled;                              ///< the types of the carried values, of the last inference
  std::shared_ptr<LoopTrials> inner;                      ///< of a Scan of opset 8, which is two Loops: the inner one's
};

struct LoopTrips {
  std::optional<Dim> most;   ///< at most so many iterations; exactly so many where nothing else ends the loop
  bool conditional = false;  ///< a condition may end it
};
LoopTrips loop_trips(const Graph& graph, const Node& node);

}  // namespace onnxc
