// Scales and shifts after a convolution or matrix product move into its weights:
//
//   y = mul(conv(x, w, b), s) + t     becomes     conv(x, w * s, b * s + t)
//
// where s and t are constants with one value for each channel, or one for all. BatchNormalization arrives in exactly
// this form. Products are computed in double and rounded once.
#include <algorithm>

#include "compiler/ops/operator.h"
#include "compiler/passes/passes.h"

namespace onnxc {
namespace {

/// The constant as one value for each channel, which is `axis` of a value with these extents. Empty if it is not of
/// that form.
std::optional<std::vector<double>> per_channel(const TensorData& c, const Extents& result, int axis) {
  if (c.type != ElementType::F32 || c.shape.size() > result.size() || !result[static_cast<std::size_t>(axis)].is_constant())
    return std::nullopt;
  const int64_t channels = result[static_cast<std::size_t>(axis)].value();
  const auto values = c.as<float>();
  if (c.count() == 1) return std::vector<double>(static_cast<std::size_t>(channels), static_cast<double>(values[0]));
  if (c.count() != channels) return std::nullopt;
  const std::size_t shift = result.size() - c.shape.size();
  for (std::size_t k = 0; k < c.shape.size(); ++k) {
    if (c.shape[k] != 1 && static_cast<int>(k + shift) != axis) return std::nullopt;
  }
  return std::vector<double>(values.begin(), values.end());
}

class Folder {
 public:
  explicit Folder(Graph& graph) : graph_(graph), uses_(use_counts(graph)), definition_(definitions(graph)) {}

  void run() {
    for (Node& node : graph_.nodes) {
      for (auto& [name, region] : node.regions) *region = fold_scales(std::move(*region));
      if (node.is_map()) visit(node);
    }
  }

 private:
  /// Handles a Map of one function of a product's result and a constant: the product computes the Map's result
  /// itself, and the Map becomes an Identity.
  void visit(Node& map) {
    if (map.inputs.size() != 2 || map.epilogue->terms.size() != 3) return;
    const Expr::Term& root = map.epilogue->terms.back();
    if (root.kind != Expr::Kind::Apply || (root.fn != Fn::Mul && root.fn != Fn::Add && root.fn != Fn::Sub && root.fn != Fn::Div)) return;
    const auto input_of = [&](int arg) { return map.epilogue->terms[static_cast<std::size_t>(root.args[arg])]; };
    if (input_of(0).kind != Expr::Kind::Input || input_of(1).kind != Expr::Kind::Input) return;
    for (int side = 0; side < 2; ++side) {
      if (side == 1 && (root.fn == Fn::Sub || root.fn == Fn::Div)) break;
      const ValueId v = map.inputs[static_cast<std::size_t>(input_of(side).args[0])],
                    other = map.inputs[static_cast<std::size_t>(input_of(1 - side).args[0])];
      const TensorData* c = graph_.constant(other);
      if (c == nullptr || v == other) continue;
      const int d = definition_[v];
      if (d < 0 || uses_[v] != 1 || !(graph_[v].type == graph_[map.outputs[0]].type)) continue;
      if (fold(graph_.node(d), root.fn, *c)) {
        map.domain.clear();
        map.op = "Identity";
        map.version = 1000;
        map.inputs = {v};
        map.epilogue.reset();
        // The next scale finds the product through this Identity.
        definition_[map.outputs[0]] = d;
        return;
      }
    }
  }

  bool fold(Node& product, Fn fn, const TensorData& c) {
    if (product.epilogue || is_exact(product)) return false;
    const bool conv = product.is("Conv");
    if (!conv && !(product.is("MatMul") && (fn == Fn::Mul || fn == Fn::Div))) return false;
    const Extents& result = graph_[product.outputs[0]].type.extents;
    const int axis = conv ? 1 : static_cast<int>(result.size()) - 1;
    const TensorData* w = graph_.constant(product.inputs[1]);
    if (w == nullptr || w->type != ElementType::F32 || (!conv && w->shape.size() != 2) || result.size() < 2) return false;
    if (conv && product.has_input(2) && graph_.constant(product.input(2)) == nullptr) return false;
    const auto values = per_channel(c, result, axis);
    if (!values) return false;
    const std::size_t channels = values->size();
    std::vector<double> bias(channels, 0.0);
    if (conv && product.has_input(2)) {
      const auto old = graph_.constant(product.input(2))->as<float>();
      std::copy(old.begin(), old.end(), bias.begin());
    }
    const bool scales = fn == Fn::Mul || fn == Fn::Div;
    if (scales) {
      auto scaled = std::make_shared<TensorData>(*w);
      const auto list = scaled->as<float>();
      const std::size_t inner = conv ? list.size() / channels : 1;
      for (std::size_t i = 0; i < list.size(); ++i) {
        const double s = (*values)[conv ? i / inner : i % channels];
        list[i] = static_cast<float>(fn == Fn::Mul ? static_cast<double>(list[i]) * s : static_cast<double>(list[i]) / s);
      }
      product.inputs[1] = graph_.add_constant(graph_[product.inputs[1]].name + "_scaled", std::move(scaled));
    }
    if (conv && (!scales || product.has_input(2))) {
      auto shifted = std::make_shared<TensorData>(TensorData::zeros(ElementType::F32, {static_cast<int64_t>(channels)}));
      const auto list = shifted->as<float>();
      for (std::size_t i = 0; i < channels; ++i) {
        const double s = (*values)[i];
        const double b = fn == Fn::Mul ? bias[i] * s : fn == Fn::Div ? bias[i] / s : fn == Fn::Add ? bias[i] + s : bias[i] - s;
        list[i] = static_cast<float>(b);
      }
      product.inputs.resize(2);
      product.inputs.push_back(graph_.add_constant(product.name + "_bias", std::move(shifted)));
    }
    return true;
  }

  Graph& graph_;
  PerValue<int> uses_, definition_;
};

}  // namespace

Graph fold_scales(Graph graph) {
  Folder(graph).run();
  return simplify(std::move(graph));
}

}  // namespace onnxc
