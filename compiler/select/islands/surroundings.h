// A graph, the layouts of its values, and the definition and uses of each: what islands are matched against.
#pragma once
#include "compiler/ir/graph.h"
#include "compiler/ir/layout.h"

namespace onnxc {

struct Surroundings {
  const Graph& graph;
  const PerValue<Layout>& layouts;  ///< of each value, as assign_layouts chose it
  /// Of each value: the position of the node that defines it, or -1, and the number of its uses.
  PerValue<int> definitions, uses;

  Surroundings(const Graph& g, const PerValue<Layout>& assigned)
      : graph(g), layouts(assigned), definitions(onnxc::definitions(g)), uses(use_counts(g)) {}
  bool is_channels_last(ValueId value) const { return layouts[value].channels_last; }
  /// The node that defines `value`, if the value has exactly one use; otherwise null.
  const Node* only_producer(ValueId value) const;
};

}  // namespace onnxc
