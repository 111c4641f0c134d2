// Minimum cuts of networks, by pushing a preflow.
#pragma once
#include <cstdint>
#include <vector>

namespace onnxc::partition {

/// Vertices between a source and a sink, which are not among them. Capacities are >= 0, and those from the source sum to less than 2^61.
struct Network {
  static constexpr int64_t kUncut = int64_t{1} << 61;  ///< of an arc that no minimum cut crosses

  struct Arc {
    int from, to;
    int64_t capacity, back;  ///< and from `to` to `from`
  };
  std::vector<int64_t> from_source, to_sink;  ///< capacities, for each vertex
  std::vector<Arc> arcs;
};

struct SinkSide {
  std::vector<bool> contains;  ///< each vertex
  int64_t work = 0;            ///< arcs that were looked at
};

/// Of all minimum cuts the one with the fewest vertices on the sink's side. There is just one such cut: where two sides each belong to a minimum cut,
/// so does what they have in common.
SinkSide smallest_sink_side(const Network& network);

}  // namespace onnxc::partition
