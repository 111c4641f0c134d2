// A graph, the layouts of its values, and the definition and uses of each: what islands are matched against.
#pragma once
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/layout.h"

namespace onnxc {

struct Surroundings {
  const Graph& graph;
  const std::vector<Layout>& layouts;  ///< of each value, as assign_layouts chose it
  /// Of each value: the index of the node that defines it, or -1, and the number of its uses.
  std::vector<int> definitions, uses;

  Surroundings(const Graph& g, const std::vector<Layout>& assigned)
      : graph(g), layouts(assigned), definitions(onnxc::definitions(g)), uses(use_counts(g)) {}
  bool is_channels_last(ValueId value) const { return layouts[static_cast<std::size_t>(value)].channels_last; }
  /// The node that defines `value`, if the value has exactly one use; otherwise null.
  const Node* only_producer(ValueId value) const;
};

}  // namespace onnxc
