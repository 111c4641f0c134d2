#include "compiler/passes/assign_layouts.h"

#include <algorithm>

#include "compiler/ops/operator.h"

namespace onnxc {

PerValue<Layout> assign_layouts(const Graph& graph, int vector_floats, int64_t byte_unit, bool may_be_planar) {
  PerValue<Layout> layouts(graph.values.size());
  PerValue<std::vector<const Node*>> users(graph.values.size());
  for (const Node& node : graph.nodes) {
    for (ValueId in : node.inputs) {
      if (in != kAbsent) users[in].push_back(&node);
    }
  }
  const auto planar = [&](const Node& node) {
    const Operator* op = node.is_map() || !node.regions.empty() ? nullptr : find_operator(node);
    return may_be_planar && op != nullptr && op->planar != nullptr ? op->planar(graph, node, vector_floats) : PlanarUse{};
  };
  const auto stays_planar = [&](const Node& node) {
    const ValueId in = node.input(0);
    if (in == kAbsent || layouts[in].channels_last || !planar(node).writes) return false;
    const auto& readers = users[node.outputs[0]];
    return std::all_of(readers.begin(), readers.end(),
                       [&](const Node* reader) { return reader->input(0) == node.outputs[0] && planar(*reader).reads; });
  };
  /// Whether only convolutions and other operators that prefer channels-last read the value. A Concat, which copies
  /// its inputs anyway, then writes its result in their layout.
  const auto is_read_by_pixels = [&](ValueId value) {
    const auto& readers = users[value];
    const bool goes_out = std::find(graph.outputs.begin(), graph.outputs.end(), value) != graph.outputs.end();
    return !goes_out && !readers.empty() && std::all_of(readers.begin(), readers.end(), [&](const Node* reader) {
      const Operator* op = reader->is_map() || !reader->regions.empty() || reader->input(0) != value ? nullptr : find_operator(*reader);
      return op != nullptr && op->layout == LayoutRule::Prefers && (op->has_layout == nullptr || op->has_layout(graph, *reader)) &&
             !planar(*reader).reads;
    });
  };
  /// Whether a Transpose turns [n, spatial..., c] into ONNX's [n, c, spatial...]: the result is a channels-last view
  /// of the input.
  const auto is_view_of_pixels = [&](const Node& node) {
    if (!node.is("Transpose") || !node.domain.empty() || node.epilogue || !is_image(graph[node.outputs[0]].type)) return false;
    // Kernels read pixels of bytes by fours.
    const Type& to = graph[node.outputs[0]].type;
    if (to.element != ElementType::F32 && !(to.extents[1] == round_up(to.extents[1], byte_unit))) return false;
    std::vector<int64_t> perm{0, graph[node.outputs[0]].type.rank() - 1};
    for (int64_t axis = 1; axis + 1 < graph[node.outputs[0]].type.rank(); ++axis) perm.push_back(axis);
    return node.integers("perm") == perm && !layouts[node.inputs[0]].channels_last;
  };
  for (const Node& node : graph.nodes) {
    if (!node.regions.empty()) continue;
    if (is_view_of_pixels(node)) {
      layouts[node.outputs[0]] = {true, graph[node.outputs[0]].type.extents[1]};
      continue;
    }
    LayoutRule rule = LayoutRule::Follows;
    if (!node.is_map()) {
      const Operator* op = find_operator(node);
      rule = op != nullptr && (op->has_layout == nullptr || op->has_layout(graph, node)) ? op->layout : LayoutRule::RowMajor;
    }
    if (rule == LayoutRule::RowMajor || (rule == LayoutRule::Prefers && stays_planar(node))) continue;
    for (ValueId out : node.outputs) {
      if (out == kAbsent || !is_image(graph[out].type)) continue;
      bool last = rule == LayoutRule::Prefers || (node.is("Concat") && is_read_by_pixels(out));
      for (int i = 0; i < node.own_inputs() && !last; ++i) {
        const ValueId in = node.input(i);
        last = in != kAbsent && !graph[in].constant && layouts[in].channels_last && graph[in].type.rank() == graph[out].type.rank() &&
               graph[in].type.extents[1] == graph[out].type.extents[1];
        if (!node.is_map() && in != kAbsent) last = last || (layouts[in].channels_last && graph[in].type.rank() == graph[out].type.rank());
        if (!node.is_map()) break;
      }
      if (last) layouts[out] = channels_last(graph[out].type, vector_floats, byte_unit);
    }
  }
  return layouts;
}

}  // namespace onnxc
