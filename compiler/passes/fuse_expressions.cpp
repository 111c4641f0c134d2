// Fusion of elementwise groups, in two steps.
//
//   t = Map mul(x0, x1)                              y = Map max(mul(x0, x1), f32(0))
//   y = Map max(x0, f32(0))         becomes
//
//   t = Conv x w b                                   y = Conv x w b, r   epilogue add(x0, x1)
//   y = Map add(x0, x1) (t, r)      becomes          placed where the Map stood, since r must be there
//
// A producer joins if its value has no other use, so that nothing is computed twice. Scalar constants move into the
// expression first.
#include <algorithm>

#include "compiler/ir/layout.h"
#include "compiler/ops/kernel_query.h"
#include "compiler/ops/operator.h"
#include "compiler/passes/passes.h"

namespace onnxc {
namespace {

constexpr int kMostMapInputs = 8;
constexpr std::size_t kMostTerms = 64;

/// Makes x_i that are constants of one element constants of the expression.
void absorb_scalars(Graph& graph, Node& node) {
  for (int i = static_cast<int>(node.inputs.size()) - 1; i >= 0 && node.inputs.size() > 1; --i) {
    const ValueId v = node.inputs[static_cast<std::size_t>(i)];
    const TensorData* c = graph.constant(v);
    if (c == nullptr || c->count() != 1 || !is_number(c->type)) continue;  // expressions have only numbers
    // The result must not owe its rank to this constant.
    const Extents& result = graph[node.outputs[0]].type.extents;
    const bool others_cover = std::any_of(node.inputs.begin(), node.inputs.end(),
                                          [&](ValueId o) { return o != v && graph[o].type.extents.size() == result.size(); });
    if (!others_cover) continue;
    uint64_t bits = 0;
    std::memcpy(&bits, c->bytes.data(), std::min<std::size_t>(8, c->bytes.size()));
    for (auto& t : node.epilogue->terms) {
      if (t.kind != Expr::Kind::Input) continue;
      if (t.args[0] == i) t = {Expr::Kind::Constant, t.type, {}, {-1, -1, -1}, bits};
      else if (t.args[0] > i) --t.args[0];
    }
    node.inputs.erase(node.inputs.begin() + i);
  }
}

/// Replaces input `number` of `map` by the expression of `producer`; equal inputs become one.
bool merge_maps(const Graph& graph, Node& map, int number, const Node& producer) {
  std::vector<ValueId> inputs;
  const auto add = [&](ValueId v) {
    const auto it = std::find(inputs.begin(), inputs.end(), v);
    if (it != inputs.end()) return static_cast<int>(it - inputs.begin());
    inputs.push_back(v);
    return static_cast<int>(inputs.size()) - 1;
  };
  std::vector<int> outer, inner;
  for (std::size_t i = 0; i < map.inputs.size(); ++i) outer.push_back(static_cast<int>(i) == number ? -1 : add(map.inputs[i]));
  for (ValueId v : producer.inputs) inner.push_back(add(v));
  if (static_cast<int>(inputs.size()) > kMostMapInputs) return false;
  Expr merged = compose(*map.epilogue, number, *producer.epilogue, outer, inner);
  if (merged.terms.size() > kMostTerms) return false;
  static_cast<void>(graph);
  map.epilogue = std::move(merged);
  map.inputs = std::move(inputs);
  return true;
}

/// Makes `map` the epilogue of `producer`, whose result is the Map's input `number`. The result replaces the Map's.
bool attach(const Graph& graph, Node& map, int number, const Node& producer) {
  const Operator* op = producer.is_map() ? nullptr : find_operator(producer);
  if (op == nullptr || op->takes_epilogue == nullptr || producer.outputs.size() != 1 || !op->takes_epilogue(graph, producer)) return false;
  const Type &from = graph[producer.outputs[0]].type, &to = graph[map.outputs[0]].type;
  const auto has_type = [&](ElementType type) { return type == ElementType::F32 || (op->typed_epilogue && has_lanes(type)); };
  if (!(from.extents == to.extents) || !has_type(from.element) || !has_type(to.element) || !is_vectorisable(*map.epilogue)) return false;
  if (op->typed_epilogue && op->layout == LayoutRule::Prefers && !is_image(to)) return false;  // the kernel writes pixels
  // Operands: first those of the producer's own epilogue, then the other inputs of the Map.
  std::vector<ValueId> operands(producer.inputs.end() - producer.epilogue_operands, producer.inputs.end());
  std::vector<int> outer, inner{0};
  for (std::size_t i = 0; i < operands.size(); ++i) inner.push_back(static_cast<int>(i) + 1);
  for (std::size_t i = 0; i < map.inputs.size(); ++i) {
    if (static_cast<int>(i) == number) {
      outer.push_back(0);
      continue;
    }
    const ValueId v = map.inputs[i];
    const auto it = std::find(operands.begin(), operands.end(), v);
    if (it != operands.end()) {
      outer.push_back(static_cast<int>(it - operands.begin()) + 1);
      continue;
    }
    const Type& type = graph[v].type;
    if (!has_type(type.element)) return false;
    operands.push_back(v);
    outer.push_back(static_cast<int>(operands.size()));
  }
  if (static_cast<int>(operands.size()) > kMostEpilogueOperands) return false;
  const bool image = op->layout == LayoutRule::Prefers;
  EpilogueShape shape;
  for (int axis = 0; axis < from.rank(); ++axis) {
    const bool column = image ? axis == 1 : axis == from.rank() - 1;
    if (column) shape.col_axes.push_back(axis);
    else shape.row_axes.push_back(axis);
  }
  for (ValueId v : operands) {
    const Extents& extents = graph[v].type.extents;
    // With a channels-last image, an operand of full rank has the image's layout.
    const Layout layout = image && extents.size() == from.extents.size() && extents.size() >= 3 && graph[v].constant == nullptr
                              ? (extents == from.extents ? channels_last(graph[v].type, 16) : Layout{true, extents[1]})
                              : Layout{};
    if (!epilogue_operand(shape, from.extents, extents, strides_of(extents, layout))) return false;
  }
  Expr expr;
  if (producer.epilogue) {
    // The Map's input `number` is the whole expression of the producer.
    std::vector<int> renumbered = outer;
    expr = compose(*map.epilogue, number, *producer.epilogue, renumbered, inner);
  } else {
    expr = *map.epilogue;
    for (auto& t : expr.terms) {
      if (t.kind == Expr::Kind::Input) t.args[0] = outer[static_cast<std::size_t>(t.args[0])];
    }
  }
  if (expr.terms.size() > kMostTerms) return false;
  Node fused = producer;
  fused.inputs.resize(static_cast<std::size_t>(producer.own_inputs()));
  fused.inputs.insert(fused.inputs.end(), operands.begin(), operands.end());
  fused.epilogue = std::move(expr);
  fused.epilogue_operands = static_cast<int>(operands.size());
  fused.outputs = map.outputs;
  map = std::move(fused);
  return true;
}

bool has_typed_epilogue(const Graph& graph, int node) {
  const Operator* op = node < 0 || graph.node(node).is_map() ? nullptr : find_operator(graph.node(node));
  return op != nullptr && op->typed_epilogue;
}

}  // namespace

Graph fuse_expressions(Graph graph) {
  for (Node& node : graph.nodes) {
    for (auto& [name, region] : node.regions) *region = fuse_expressions(std::move(*region));
    if (node.is_map()) absorb_scalars(graph, node);
  }
  PerValue<int> uses = use_counts(graph);
  const PerValue<int> definition = definitions(graph);
  PerNode<bool> gone(graph.nodes.size());
  // Several reads of a value by one Map count as one use.
  const auto only_use = [&](const Node& map, ValueId v) {
    return uses[v] == static_cast<int>(std::count(map.inputs.begin(), map.inputs.end(), v));
  };
  const auto count_uses = [&](const std::vector<ValueId>& list, int change) {
    for (ValueId v : list) {
      if (v != kAbsent) uses[v] += change;
    }
  };
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (bool changed = true; changed && graph.nodes[i].is_map();) {
      changed = false;
      Node& map = graph.nodes[i];
      const int inputs = static_cast<int>(map.inputs.size());
      // Other Maps join before a product of bytes does, whose epilogue can read what they read.
      const bool maps_first =
          std::ranges::any_of(map.inputs, [&](ValueId v) { return v != kAbsent && has_typed_epilogue(graph, definition[v]); });
      for (int step = maps_first ? 0 : inputs; step < 2 * inputs && !changed; ++step) {
        const int k = step % inputs;
        const ValueId v = map.inputs[static_cast<std::size_t>(k)];
        const int p = v == kAbsent ? -1 : definition[v];
        if (p < 0 || gone[p] || !only_use(map, v)) continue;
        const Node& producer = graph.node(p);
        if (step < inputs && !producer.is_map()) continue;
        if (producer.outputs.size() != 1 || producer.outputs[0] != v) continue;
        if (std::count(map.inputs.begin(), map.inputs.end(), v) != 1) continue;
        const bool same_extents = graph[v].type.extents == graph[map.outputs[0]].type.extents;
        const std::vector<ValueId> read = map.inputs;
        bool merged = false;
        if (producer.is_map()) {
          // A smaller value would be computed again for each element that it is repeated to.
          if (same_extents) merged = merge_maps(graph, map, k, producer);
        } else if (same_extents) {
          merged = attach(graph, map, k, producer);
        }
        if (!merged) continue;
        gone[p] = true;
        count_uses(read, -1);
        count_uses(producer.inputs, -1);
        count_uses(map.inputs, 1);
        changed = true;
      }
    }
  }
  std::vector<Node> kept;
  for (int i = 0; i < std::ssize(graph.nodes); ++i) {
    if (!gone[i]) kept.push_back(std::move(graph.node(i)));
  }
  graph.nodes = std::move(kept);
  return graph;
}

}  // namespace onnxc
