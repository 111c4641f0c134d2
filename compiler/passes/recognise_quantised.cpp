// Convolutions and matrix products between DequantizeLinear and QuantizeLinear become products of bytes:
//
//   r = Conv (DequantizeLinear x sx zx) (DequantizeLinear w sw zw) (DequantizeLinear b sx*sw)     y = QuantizeLinear (Relu r) sy zy
//
// becomes y = saturate(round(relu(sums * (sx sw / sy))) + zy), with sums = ByteConv x w, whose start has b and the zero points. What only moves
// values, or takes the greatest, does so before they become real, and quantising again what was dequantised by the same scale does nothing.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "compiler/ops/in_float.h"
#include "compiler/ops/quant/integer_product.h"
#include "compiler/ops/quant/linear.h"
#include "compiler/passes/hand_over_name.h"
#include "compiler/passes/passes.h"

namespace onnxc {
namespace {

bool is_one(const Type& type) { return element_count(type.extents) == Dim(1); }
bool quantises(const Node& node, const char* op) { return node.op == op && (node.domain.empty() || node.domain == "com.microsoft"); }

/// A value that is (q - zero) * scale. `zero` may be absent.
struct Dequantised {
  ValueId q, scale, zero;
  int64_t axis;  ///< along which a scale of several elements runs
};

/// A value that is sums * factor + addend, where the sums are f32; `addend` may be absent.
struct Scaled {
  ValueId sums, factor, addend;
};

class Recogniser {
 public:
  explicit Recogniser(Graph& graph) : graph_(graph), fresh_(first_fresh(graph)), uses_(use_counts(graph)) {}

  void run() {
    std::vector<Node> nodes = std::move(graph_.nodes);
    graph_.nodes.clear();
    make_unsigned(nodes);
    for (Node& node : nodes) {
      for (auto& [name, region] : node.regions) *region = recognise_quantised(std::move(*region));
      for (auto* list : {&node.inputs, &node.captures}) {
        for (ValueId& v : *list) v = resolved(v);
      }
      GraphBuilder b(graph_, node.name, fresh_);
      const std::optional<ValueId> result = node.guard([&] { return rewrite(b, node); });
      if (result) replace(b, node, *result);
      else append(std::move(node));
    }
  }

 private:
  void append(Node node) {
    for (ValueId v : node.outputs) {
      if (v != kAbsent) producer_[v] = static_cast<int>(graph_.nodes.size());
    }
    graph_.nodes.push_back(std::move(node));
  }
  /// Later nodes read the result in the place of the node's output.
  void replace(GraphBuilder& b, const Node& node, ValueId result) {
    for (Node& part : b.take()) append(std::move(part));
    same_[node.outputs[0]] = result;
    if (producer_.contains(result)) hand_over_name(graph_, node.outputs[0], result);
    count_[result] = uses_[node.outputs[0]];
    Node identity;
    identity.op = "Identity";
    identity.name = node.name;
    identity.version = 1000;
    identity.inputs = {result};
    identity.outputs = {node.outputs[0]};
    graph_.nodes.push_back(std::move(identity));
  }
  ValueId resolved(ValueId v) const {
    const auto it = same_.find(v);
    return it == same_.end() ? v : it->second;
  }
  const Node* producer(ValueId v) const {
    const auto it = producer_.find(v);
    return it == producer_.end() ? nullptr : &graph_.node(it->second);
  }
  int uses(ValueId v) const {
    const auto it = count_.find(v);
    if (it != count_.end()) return it->second;
    return v < std::ssize(uses_) ? uses_[v] : 1;
  }

  std::optional<ValueId> rewrite(GraphBuilder& b, const Node& node) {
    if (node.outputs.size() != 1 || node.outputs[0] == kAbsent) return std::nullopt;
    if (quantises(node, "QuantizeLinear")) return quantise(b, node);
    if (!node.domain.empty()) return std::nullopt;
    if (node.op == "Conv") return conv(b, node);
    if (node.op == "MatMul" || node.op == "Gemm") return matmul(b, node);
    if (node.op == "Concat") return concat(b, node);
    return move(b, node);
  }

  /// A value of bytes, or of i32, that is dequantised to f32.
  std::optional<Dequantised> dequantised(ValueId v, bool bytes = true) const {
    const Node* node = producer(v);
    if (node == nullptr || !quantises(*node, "DequantizeLinear") || node->integer("block_size", 0) != 0) return std::nullopt;
    const ElementType type = graph_[node->inputs[0]].type.element;
    if (bytes ? !is_byte(type) : type != ElementType::I32) return std::nullopt;
    if (graph_[v].type.element != ElementType::F32 || graph_[node->inputs[1]].type.element != ElementType::F32) return std::nullopt;
    const int64_t axis = node->integer("axis", 1), rank = graph_[v].type.rank();
    return Dequantised{node->inputs[0], node->inputs[1], node->input(2), axis < 0 ? axis + rank : axis};
  }
  /// Bytes with one scale for all.
  std::optional<Dequantised> dequantised_evenly(ValueId v) const {
    auto d = dequantised(v);
    if (d && !is_one(graph_[d->scale].type)) d.reset();
    return d;
  }
  /// Constant bytes with one scale, or one for each index of `axis`.
  std::optional<Dequantised> weights(ValueId v, int64_t axis) const {
    auto d = dequantised(v);
    if (d && (graph_.constant(d->q) == nullptr || !has_finite_scale(*d) ||
              (!is_one(graph_[d->scale].type) && (graph_[d->scale].type.rank() != 1 || d->axis != axis))))
      d.reset();
    return d;
  }
  /// Whether a scale is known, positive, and neither so small nor so large that (q * scale) / scale is not q.
  bool is_usual(ValueId scale) const {
    const TensorData* constant = graph_.constant(scale);
    if (constant == nullptr || constant->count() != 1) return false;
    const double value = to_doubles(*constant)[0];
    return value > 1e-30 && value < 1e30;
  }
  bool has_finite_scale(const Dequantised& d) const {
    const TensorData* scale = graph_.constant(d.scale);
    return scale != nullptr && std::ranges::all_of(to_doubles(*scale), [](double s) { return std::isfinite(s); });
  }

  bool equal_constants(ValueId a, ValueId b) const {
    if (a == b) return true;
    const TensorData *x = graph_.constant(a), *y = graph_.constant(b);
    return x != nullptr && y != nullptr && x->type == y->type && x->count() == y->count() && x->bytes == y->bytes;
  }

  /// The quantised bias of a product whose factor is known, if its scale is that factor: it is added to the sums.
  ValueId bias_of_sums(ValueId bias, ValueId x_scale, ValueId w_scale) const {
    const auto d = bias == kAbsent ? std::nullopt : dequantised(bias, false);
    const TensorData *x = graph_.constant(x_scale), *w = graph_.constant(w_scale);
    if (!d || graph_.constant(d->q) == nullptr || graph_.constant(d->scale) == nullptr || x == nullptr || w == nullptr) return kAbsent;
    if (graph_[d->q].type.rank() != 1) return kAbsent;
    constexpr int64_t kMost = int64_t{1} << 30;  // so that sums do not overflow
    if (std::ranges::any_of(to_integers(*graph_.constant(d->q)), [](int64_t v) { return v > kMost || v < -kMost; })) return kAbsent;
    if (const TensorData* zero = graph_.constant(d->zero); d->zero != kAbsent) {
      if (zero == nullptr || std::ranges::any_of(to_integers(*zero), [](int64_t z) { return z != 0; })) return kAbsent;
    }
    const std::vector<double> own = to_doubles(*graph_.constant(d->scale)), factors = to_doubles(*w);
    const double x_factor = to_doubles(*x)[0];
    const std::size_t count = std::max(own.size(), factors.size());
    for (std::size_t i = 0; i < count; ++i) {
      const double wanted = x_factor * factors[factors.size() == 1 ? 0 : i], found = own[own.size() == 1 ? 0 : i];
      if (!(std::abs(found - wanted) <= 1e-6 * std::abs(wanted))) return kAbsent;
    }
    return d->q;
  }

  /// sums * (x_scale * w_scale) + bias, which run along `axis` of a result of that rank.
  ValueId scaled(GraphBuilder& b, ValueId sums, const Dequantised& x, const Dequantised& w, ValueId bias, int64_t axis, int64_t rank) {
    const ValueId real = cast_to(b, sums, ElementType::F32);
    const ValueId factor = along(b, b.op("Mul", {as_scalar(b, x.scale), as_scalar_if_one(b, w.scale)}), axis, rank);
    const ValueId addend = bias == kAbsent ? kAbsent : along(b, bias, axis, rank);
    ValueId result = b.op("Mul", {real, factor});
    if (addend != kAbsent) result = b.op("Add", {result, addend});
    scaled_[result] = {real, factor, addend};
    return result;
  }
  static ValueId as_scalar_if_one(GraphBuilder& b, ValueId v) { return is_one(b.type(v)) ? as_scalar(b, v) : v; }

  std::optional<ValueId> conv(GraphBuilder& b, const Node& node) {
    const auto x = dequantised_evenly(node.input(0)), w = weights(node.input(1), 0);
    if (!x || !w) return std::nullopt;
    const int64_t rank = b.rank(node.input(1));
    const ValueId bias = bias_of_sums(node.input(2), x->scale, w->scale);
    const auto sums = byte_conv(b, {x->q, as_scalar(b, x->zero)}, {w->q, w->zero == kAbsent ? kAbsent : along(b, w->zero, 0, rank)},
                                node.attributes, bias);
    if (!sums) return std::nullopt;
    return scaled(b, *sums, *x, *w, bias == kAbsent ? node.input(2) : kAbsent, 1, rank);
  }

  std::optional<ValueId> matmul(GraphBuilder& b, const Node& node) {
    const bool gemm = node.op == "Gemm", transposed = gemm && node.integer("transB", 0) != 0;
    if (gemm && (node.integer("transA", 0) != 0 || node.number("alpha", 1) != 1 || node.number("beta", 1) != 1)) return std::nullopt;
    const auto a = dequantised_evenly(node.input(0)), w = weights(node.input(1), transposed ? 0 : 1);
    if (!a || !w || b.rank(w->q) != 2) return std::nullopt;
    if (gemm && node.has_input(2) && (b.rank(node.input(2)) != 1 || is_one(b.type(node.input(2))))) return std::nullopt;
    const ValueId bias = gemm ? bias_of_sums(node.input(2), a->scale, w->scale) : kAbsent;
    const ValueId matrix = transposed ? transpose(b, w->q) : w->q;
    const auto sums =
        byte_matmul(b, {a->q, as_scalar(b, a->zero)}, {matrix, w->zero == kAbsent ? kAbsent : as_scalar_if_one(b, w->zero)}, bias);
    if (!sums) return std::nullopt;
    const int64_t rank = b.rank(*sums);
    return scaled(b, *sums, *a, *w, bias == kAbsent && gemm ? node.input(2) : kAbsent, rank - 1, rank);
  }
  static ValueId transpose(GraphBuilder& b, ValueId matrix) {
    const TensorData& from = *b.graph().constant(matrix);
    const auto rows = static_cast<std::size_t>(from.shape[0]), columns = static_cast<std::size_t>(from.shape[1]);
    TensorData to = from;
    std::swap(to.shape[0], to.shape[1]);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) to.bytes[j * rows + i] = from.bytes[i * columns + j];
    }
    return b.graph().add_constant(b.graph()[matrix].name, std::make_shared<const TensorData>(std::move(to)));
  }

  std::optional<ValueId> quantise(GraphBuilder& b, const Node& node) {
    const ElementType type = b.type(node.outputs[0]).element;
    if (!is_integer(type) || !is_one(b.type(node.input(1))) || graph_.constant(node.input(1)) == nullptr || node.has("precision") ||
        b.type(node.input(1)).element != ElementType::F32 || node.integer("block_size", 0) != 0)
      return std::nullopt;
    if (const auto d = dequantised_evenly(node.input(0)); d && b.type(d->q).element == type && equal_constants(d->scale, node.input(1)) &&
                                                          has_same_zero(d->zero, node.input(2)) && is_usual(node.input(1)))
      return d->q;
    // Back to a product through what does not mind a positive factor.
    if (!is_usual(node.input(1))) return std::nullopt;
    std::vector<const Node*> between;
    ValueId v = node.input(0);
    while (!scaled_.contains(v)) {
      const Node* const next = producer(v);
      if (next == nullptr || uses(v) != 1 || !(next->is("Relu") || is_clip(*next))) return std::nullopt;
      between.push_back(next);
      v = next->inputs[0];
    }
    if (uses(v) != 1) return std::nullopt;
    const Scaled product = scaled_.at(v);
    const ValueId divisor = as_scalar(b, node.input(1));
    ValueId y = b.op("Mul", {product.sums, b.op("Div", {product.factor, divisor})});
    if (product.addend != kAbsent) y = b.op("Add", {y, b.op("Div", {product.addend, divisor})});
    for (auto it = between.rbegin(); it != between.rend(); ++it) {
      std::vector<ValueId> inputs{y};
      for (int i = 1; i < (*it)->own_inputs(); ++i)
        inputs.push_back((*it)->has_input(i) ? b.op("Div", {as_scalar(b, (*it)->input(i)), divisor}) : kAbsent);
      y = b.op((*it)->op, std::move(inputs));
    }
    return round_to_quantised(b, y, as_scalar(b, node.input(2)), type);
  }
  bool is_clip(const Node& node) const {
    if (!node.is("Clip")) return false;
    for (int i = 1; i < node.own_inputs(); ++i) {
      if (node.has_input(i) && graph_.constant(node.input(i)) == nullptr) return false;
    }
    return true;
  }
  bool has_same_zero(ValueId a, ValueId b) const {
    const auto is_zero = [&](ValueId v) {
      const TensorData* c = graph_.constant(v);
      return v == kAbsent || (c != nullptr && std::ranges::all_of(to_integers(*c), [](int64_t z) { return z == 0; }));
    };
    return (is_zero(a) && is_zero(b)) || (a != kAbsent && b != kAbsent && equal_constants(a, b));
  }

  /// Operators that keep the values of their first input, or the greatest of several.
  std::optional<ValueId> move(GraphBuilder& b, const Node& node) {
    static constexpr std::string_view kMovers[] = {"Reshape", "Flatten",      "Transpose",    "Squeeze", "Unsqueeze",
                                                   "Slice",   "DepthToSpace", "SpaceToDepth", "MaxPool", "Identity"};
    if (std::ranges::find(kMovers, node.op) == std::end(kMovers)) return std::nullopt;
    const auto x = dequantised_evenly(node.input(0));
    if (!x || (node.op == "MaxPool" && !is_usual(x->scale))) return std::nullopt;
    std::vector<ValueId> inputs = node.inputs;
    inputs[0] = x->q;
    return dequantise(b, b.op(node.op, std::move(inputs), node.attributes), *x);
  }
  std::optional<ValueId> concat(GraphBuilder& b, const Node& node) {
    const auto first = dequantised_evenly(node.input(0));
    std::vector<ValueId> parts;
    for (ValueId v : node.inputs) {
      const auto x = dequantised_evenly(v);
      if (!first || !x || graph_[x->q].type.element != graph_[first->q].type.element || !equal_constants(x->scale, first->scale) ||
          !has_same_zero(x->zero, first->zero))
        return std::nullopt;
      parts.push_back(x->q);
    }
    return dequantise(b, b.op("Concat", std::move(parts), node.attributes), *first);
  }
  static ValueId dequantise(GraphBuilder& b, ValueId q, const Dequantised& as) {
    std::vector<ValueId> inputs{q, as_scalar(b, as.scale)};
    if (as.zero != kAbsent) inputs.push_back(as_scalar(b, as.zero));
    return b.op("DequantizeLinear", std::move(inputs));
  }

  /// What is quantised to i8 only to be dequantised again is u8 instead, 128 greater, as kernels read it.
  void make_unsigned(std::vector<Node>& nodes) {
    std::map<ValueId, std::vector<Node*>> readers;
    for (Node& node : nodes) {
      for (ValueId v : node.inputs) readers[v].push_back(&node);
    }
    for (Node& node : nodes) {
      if (!quantises(node, "QuantizeLinear") || node.outputs.size() != 1) continue;
      const ValueId y = node.outputs[0];
      if (graph_[y].type.element != ElementType::I8 || uses_[y] != static_cast<int>(readers[y].size())) continue;
      const auto has_one_zero = [&](const Node& n) {
        const TensorData* zero = graph_.constant(n.input(2));
        return n.has_input(2) ? zero != nullptr && zero->count() == 1 : true;
      };
      if (!has_one_zero(node) || !std::ranges::all_of(readers[y], [&](const Node* n) {
            return quantises(*n, "DequantizeLinear") && n->inputs[0] == y && has_one_zero(*n) && n->integer("block_size", 0) == 0;
          }))
        continue;
      graph_[y].type.element = ElementType::U8;
      node.attributes.erase("output_dtype");
      raise_zero(node);
      for (Node* reader : readers[y]) raise_zero(*reader);
    }
  }
  void raise_zero(Node& node) {
    const TensorData* const own = graph_.constant(node.input(2));
    const int64_t zero = (own != nullptr ? to_integers(*own)[0] : 0) + 128;
    const std::vector<int64_t> shape = own != nullptr ? own->shape : std::vector<int64_t>();
    node.inputs.resize(2, kAbsent);
    node.inputs.push_back(graph_.add_constant(node.name, make_scalar(ElementType::U8, static_cast<uint8_t>(zero), shape)));
  }

  Graph& graph_;
  int fresh_;
  PerValue<int> uses_;            ///< in the graph as it was
  std::map<ValueId, int> count_;  ///< of results that take the place of outputs
  std::map<ValueId, ValueId> same_;
  std::map<ValueId, int> producer_;
  std::map<ValueId, Scaled> scaled_;
};

}  // namespace

Graph recognise_quantised(Graph graph) {
  Recogniser(graph).run();
  return graph;
}

}  // namespace onnxc
