#include "compiler/lowering/concat_in_place.h"

#include <algorithm>

namespace onnxc {
namespace {

bool is_sized_before_the_run(const Type& type) {
  return type.is_tensor() && type.ranked &&
         std::none_of(type.extents.begin(), type.extents.end(), [](Dim d) { return d.depends_on_run(); });
}

/// Elements from one index of `axis` to the next in a Concat's result, if an operand's elements are contiguous there:
/// in each pixel, or as a whole.
std::optional<Dim> distance(const Extents& extents, std::size_t axis, const Layout& layout) {
  if (layout.channels_last && axis == 1) return 1;
  Dim inner = layout.channels_last ? layout.pixel_stride : Dim(1);
  for (std::size_t k = 0; k < extents.size(); ++k) {
    if (layout.channels_last && k == 1) continue;  // inside a pixel
    if (k < axis && !(extents[k] == Dim(1))) return std::nullopt;
    if (k > axis) inner *= extents[k];
  }
  return inner;
}

}  // namespace

std::map<ValueId, ConcatOperand> place_operands(const Graph& graph, PerValue<Layout>& layouts, bool rows_alone) {
  std::map<ValueId, ConcatOperand> operands;
  const PerValue<int> definition = definitions(graph);
  const auto is_computed = [&](ValueId v) {
    return definition[v] >= 0 && graph.node(definition[v]).regions.empty() && std::ranges::find(graph.outputs, v) == graph.outputs.end();
  };
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    if (!node.is("Concat") || node.own_inputs() < 2) continue;
    const ValueId whole = node.outputs[0];
    const Type& type = graph[whole].type;
    if (!is_sized_before_the_run(type) || type.element == ElementType::String || is_sub_byte(type.element)) continue;
    const int64_t given = node.integer("axis", 0);
    const auto axis = static_cast<std::size_t>(given < 0 ? given + type.rank() : given);
    if (rows_alone && !(layouts[whole].channels_last && axis > 1)) continue;
    const std::optional<Dim> unit = distance(type.extents, axis, layouts[whole]);
    if (!unit) continue;
    Dim at = 0;
    for (int k = 0; k < node.own_inputs(); ++k) {
      const ValueId v = node.input(k);
      const Type& operand = graph[v].type;
      const Dim offset = at * *unit;
      at += operand.extents[axis];
      if (operands.contains(v) || !is_computed(v) || !is_sized_before_the_run(operand) ||
          layouts[v].channels_last != layouts[whole].channels_last)
        continue;
      const Dim extent_used = !layouts[v].channels_last ? operand.extents[axis] * *unit : axis == 1 ? operand.extents[1] : Dim(0);
      operands.emplace(v, ConcatOperand{whole, offset, extent_used});
      layouts[v].pixel_stride = layouts[whole].pixel_stride;
    }
  }
  return operands;
}

}  // namespace onnxc
