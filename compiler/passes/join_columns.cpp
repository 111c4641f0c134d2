// A Concat of columns that are picked from one tensor, or of products of such columns, picks them at once.
//
// Polynomial features are exported as three nodes for each product of features, and their Concat:
//
//   a = Gather x [0, 1]      p = ReduceProd a          l = Gather x [0, 0, 1]
//   b = Gather x [0, 2]      q = ReduceProd b          r = Gather x [1, 2, 2]
//   c = Gather x [1, 2]      s = ReduceProd c          y = Mul l r
//   y = Concat p q s                           becomes
#include <algorithm>
#include <iterator>
#include <optional>

#include "compiler/ops/operator.h"
#include "compiler/ops/tensor/gather.h"
#include "compiler/passes/passes.h"

namespace onnxc {
namespace {

constexpr std::size_t kMostFactors = 4;

/// Columns of `source`, each the product of as many of them as there are lists: factors[f][c] is factor f of column c.
struct JoinedColumns {
  ValueId source = kAbsent;
  std::vector<std::vector<int64_t>> factors;
};

class Joiner {
 public:
  explicit Joiner(Graph& graph) : graph_(graph), definition_(definitions(graph)), fresh_(first_fresh(graph)) {}

  void run() {
    // What is behind a node may look at it, so all stay until the last is joined.
    std::vector<std::vector<Node>> before;
    for (Node& node : graph_.nodes) {
      for (auto& [name, region] : node.regions) *region = join_columns(std::move(*region));
      before.push_back(join(node));
    }
    std::vector<Node> nodes;
    for (std::size_t i = 0; i < before.size(); ++i) {
      std::ranges::move(before[i], std::back_inserter(nodes));
      nodes.push_back(std::move(graph_.nodes[i]));
    }
    graph_.nodes = std::move(nodes);
  }

 private:
  const Node* producer(ValueId v) const {
    const int d = v == kAbsent ? -1 : definition_[v];
    return d < 0 ? nullptr : &graph_.nodes[static_cast<std::size_t>(d)];
  }

  std::optional<JoinedColumns> picked(ValueId v, int64_t axis) const {
    const Node* node = producer(v);
    if (node == nullptr || !node->is("Gather") || gather_axis(*node, graph_[node->inputs[0]].type.rank()) != axis) return std::nullopt;
    const TensorData* indices = graph_.constant(node->inputs[1]);
    if (indices == nullptr || indices->shape.size() != 1) return std::nullopt;
    return JoinedColumns{node->inputs[0], {to_integers(*indices)}};
  }

  std::optional<JoinedColumns> columns_of(ValueId v, int64_t axis) const {
    const Node* node = producer(v);
    if (node == nullptr) return std::nullopt;
    if (!node->is("ReduceProd")) return picked(v, axis);
    const Type& type = graph_[v].type;
    const TensorData* axes = node->inputs.size() < 2 ? nullptr : graph_.constant(node->inputs[1]);
    if (axes == nullptr || axes->count() != 1 || node->integer("keepdims", 1) == 0) return std::nullopt;
    const int64_t reduced = to_integers(*axes)[0];
    // Products of narrower numbers are rounded only once.
    if ((reduced < 0 ? reduced + type.rank() : reduced) != axis || (type.element != ElementType::F32 && type.element != ElementType::F64))
      return std::nullopt;
    const auto columns = picked(node->inputs[0], axis);
    if (!columns || columns->factors[0].empty() || columns->factors[0].size() > kMostFactors) return std::nullopt;
    JoinedColumns product{columns->source, {}};
    for (int64_t index : columns->factors[0]) product.factors.push_back({index});
    return product;
  }

  ValueId build(GraphBuilder& b, const JoinedColumns& columns, int64_t axis) const {
    ValueId product = kAbsent;
    for (const auto& factor : columns.factors) {
      const Dim extent = b.extents(columns.source)[static_cast<std::size_t>(axis)];
      bool whole = extent == Dim(static_cast<int64_t>(factor.size()));
      for (std::size_t i = 0; whole && i < factor.size(); ++i) whole = factor[i] == static_cast<int64_t>(i);
      const ValueId picks = whole ? columns.source : b.op("Gather", {columns.source, b.integers(factor)}, {{"axis", axis}});
      product = product == kAbsent ? picks : b.op("Mul", {product, picks});
    }
    return product;
  }

  /// Changes the operands of a Concat, and returns the nodes that compute the new ones.
  std::vector<Node> join(Node& node) {
    if (!node.is("Concat") || node.inputs.size() < 2) return {};
    const int rank = graph_[node.outputs[0]].type.rank();
    const int64_t axis = node.integer("axis", 0) < 0 ? node.integer("axis", 0) + rank : node.integer("axis", 0);
    GraphBuilder b(graph_, node.name, fresh_);
    std::vector<ValueId> operands;
    for (std::size_t i = 0; i < node.inputs.size();) {
      auto columns = columns_of(node.inputs[i], axis);
      std::size_t last = i + 1;
      for (; columns && last < node.inputs.size(); ++last) {
        const auto next = columns_of(node.inputs[last], axis);
        if (!next || next->source != columns->source || next->factors.size() != columns->factors.size()) break;
        for (std::size_t f = 0; f < next->factors.size(); ++f)
          columns->factors[f].insert(columns->factors[f].end(), next->factors[f].begin(), next->factors[f].end());
      }
      operands.push_back(last > i + 1 ? build(b, *columns, axis) : node.inputs[i]);
      i = last;
    }
    if (operands.size() == 1) node.op = "Identity";
    node.inputs = std::move(operands);
    if (node.op == "Identity") node.attributes.clear();
    return b.take();
  }

  Graph& graph_;
  PerValue<int> definition_;
  int fresh_;
};

}  // namespace

Graph join_columns(Graph graph) {
  Joiner(graph).run();
  return graph;
}

}  // namespace onnxc
