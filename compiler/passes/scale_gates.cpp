// For x * sigmoid(x) after a convolution: multiplies the weights and the bias by -log2(e), so that the convolution
// computes the exponent u of exp(-x) = 2^u.
//
//   y = Conv x w b                              y = Conv x (-log2(e) w) (-log2(e) b)
//       epilogue mul(x0, sigmoid(x0))  becomes      epilogue mul(t, sigmoid(t)), t = mul(x0, -ln 2)
//
// If only one other convolution reads y, the factor -ln 2 moves to its weights: the epilogue is then mul(x0,
// sigmoid(mul(x0, -ln 2))), whose sigmoid is computed directly from x0.
//
// The code for such an epilogue is fn::gate_exp2 (codegen/cpp_text.cpp). Weights that a narrower type holds exactly
// are not changed, since it would not hold their multiples.
#include <algorithm>
#include <array>
#include <map>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

#include "compiler/ir/exact_storage.h"
#include "compiler/ops/operator.h"
#include "compiler/passes/passes.h"

namespace onnxc {
namespace {

bool is_x0(const Expr& expr, int term) {
  const Expr::Term& t = expr.terms[static_cast<std::size_t>(term)];
  return t.kind == Expr::Kind::Input && t.args[0] == 0 && t.type == ElementType::F32;
}

/// x0 * sigmoid(x0)
bool is_gate(const Expr& expr, const Expr::Term& t) {
  const auto meets = [&](int k) {
    return has_sigmoid_factor(expr, t, k) && is_x0(expr, expr.terms[static_cast<std::size_t>(t.args[k])].args[0]) &&
           is_x0(expr, t.args[1 - k]);
  };
  return meets(0) || meets(1);
}

class Scaler {
 public:
  explicit Scaler(Graph& graph) : graph_(graph), uses_(use_counts(graph)), reader_(uses_.size(), -1) {
    for (int i = 0; i < std::ssize(graph.nodes); ++i) {
      const Node& node = graph.node(i);
      if (!node.inputs.empty() && node.inputs[0] >= 0) reader_[node.inputs[0]] = i;
    }
  }

  void visit(Node& conv) {
    if (!is_scalable(conv) || !conv.epilogue ||
        !std::ranges::any_of(conv.epilogue->terms, [&](const Expr::Term& t) { return is_gate(*conv.epilogue, t); }))
      return;
    const bool has_bias = conv.own_inputs() > 2 && conv.has_input(2);
    if (has_bias && !is_f32_constant(conv.inputs[2])) return;
    scale(conv.inputs[1], -std::numbers::log2e);
    if (has_bias) scale(conv.inputs[2], -std::numbers::log2e);
    Expr expr;
    const int x0 = expr.input(0, ElementType::F32), y = expr.apply(Fn::Mul, x0, expr.constant(ElementType::F32, -std::numbers::ln2));
    const bool whole = conv.epilogue->terms.size() == 3 && is_gate(*conv.epilogue, conv.epilogue->terms.back());
    if (Node* const next = whole ? only_reader(conv.outputs[0]) : nullptr; next != nullptr && is_scalable(*next)) {
      scale(next->inputs[1], -std::numbers::ln2);
      expr.finish(expr.apply(Fn::Mul, x0, expr.apply(Fn::Sigmoid, y)));
      conv.epilogue = std::move(expr);
      return;
    }
    expr.finish(y);
    std::vector<int> same(static_cast<std::size_t>(conv.epilogue->input_count()));
    std::iota(same.begin(), same.end(), 0);
    conv.epilogue = compose(*conv.epilogue, 0, expr, same, {0});
  }

 private:
  bool is_f32_constant(ValueId v) const { return graph_.constant(v) != nullptr && graph_.constant(v)->type == ElementType::F32; }

  /// Whether the node is a convolution whose weights may be multiplied.
  bool is_scalable(const Node& node) const {
    if (!node.is("Conv") || is_exact(node) || !is_f32_constant(node.inputs[1])) return false;
    const TensorData& w = *graph_.constant(node.inputs[1]);
    return !w.shape.empty() && exact_storages(std::array{Columns{w.as<float>(), w.shape[0], true}}).empty();
  }

  /// The node that reads v as its first input, if nothing else reads v.
  Node* only_reader(ValueId v) { return uses_[v] == 1 && reader_[v] >= 0 ? &graph_.node(reader_[v]) : nullptr; }

  /// Multiplies a constant; each element is rounded once. Nodes that shared the constant share the result.
  void scale(ValueId& constant, double factor) {
    const auto [known, is_new] = scaled_.try_emplace({constant, factor}, -1);
    if (is_new) {
      auto tensor = std::make_shared<TensorData>(*graph_.constant(constant));
      for (float& value : tensor->as<float>()) value = static_cast<float>(static_cast<double>(value) * factor);
      known->second = graph_.add_constant(graph_[constant].name + "_scaled", std::move(tensor));
    }
    constant = known->second;
  }

  Graph& graph_;
  PerValue<int> uses_, reader_;
  std::map<std::pair<ValueId, double>, ValueId> scaled_;
};

}  // namespace

Graph scale_gates(Graph graph) {
  Scaler scaler(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (auto& [name, region] : graph.nodes[i].regions) *region = scale_gates(std::move(*region));
    scaler.visit(graph.nodes[i]);
  }
  return graph;
}

}  // namespace onnxc
