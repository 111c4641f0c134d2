// A graph, how its values lie, and what surrounds each: where the islands are looked for.
#pragma once
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/layout.h"

namespace onnxc {

struct Surroundings {
  const Graph& graph;
  const std::vector<Layout>& layouts;  ///< of each value, as assign_layouts has it
  std::vector<int> definitions, uses;  ///< of each value: the index of its node or -1, and how often it is used

  Surroundings(const Graph& g, const std::vector<Layout>& assigned)
      : graph(g), layouts(assigned), definitions(onnxc::definitions(g)), uses(use_counts(g)) {}
  bool is_channels_last(ValueId value) const { return layouts[static_cast<std::size_t>(value)].channels_last; }
  /// The node that makes `value` for one use alone, or null.
  const Node* only_producer(ValueId value) const;
};

}  // namespace onnxc
