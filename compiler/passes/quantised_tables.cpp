// Functions of one value of 8 bits, as tables of 256:
//
//   y = QuantizeLinear (Mul x h) sy zy,  h = HardSigmoid x,  x = DequantizeLinear q sx zx        becomes        y = ByteTable q [y of 0, ..., y of 255]
//
// The table is the same expression over the constant of all 256 bytes, which fold_constants computes. Values between that are rounded to bytes are part
// of the function, so that HardSwish and SiLU as quantisers write them are one table each.
#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "compiler/ops/quant/linear.h"
#include "compiler/passes/quantised_rules.h"

namespace onnxc {
namespace {

constexpr std::size_t kMostNodes = 64;

/// Elementwise functions, by whether they cost more than to look up a byte.
const std::map<std::string_view, bool> kFunctions{{"Abs", false},
                                                  {"Add", false},
                                                  {"Clip", false},
                                                  {"Div", false},
                                                  {"Identity", false},
                                                  {"Max", false},
                                                  {"Min", false},
                                                  {"Mul", false},
                                                  {"Neg", false},
                                                  {"Relu", false},
                                                  {"Sub", false},
                                                  {"LeakyRelu", false},
                                                  {"Celu", true},
                                                  {"Elu", true},
                                                  {"Erf", true},
                                                  {"Exp", true},
                                                  {"Gelu", true},
                                                  {"HardSigmoid", true},
                                                  {"Log", true},
                                                  {"Mish", true},
                                                  {"HardSwish", true},
                                                  {"Pow", true},
                                                  {"Reciprocal", true},
                                                  {"Selu", true},
                                                  {"Sigmoid", true},
                                                  {"Softplus", true},
                                                  {"Softsign", true},
                                                  {"Sqrt", true},
                                                  {"Swish", true},
                                                  {"Tanh", true},
                                                  {"ThresholdedRelu", true}};

/// The nodes between one value of bytes and a real value, and what they cost.
class Function {
 public:
  Function(QuantisedGraph& g, ValueId result) : g_(g) { is_function_ = visit(result); }
  bool is_worth_a_table() const { return is_function_ && root_ != kAbsent && steps_ > 0 && (is_costly_ || steps_ > 3); }
  ValueId root() const { return root_; }

  /// The same nodes over other bytes.
  ValueId of(GraphBuilder& b, ValueId bytes) {
    std::map<ValueId, ValueId> copies{{root_, bytes}};
    for (const ValueId v : order_) {
      const Node& node = *g_.producer(v);
      std::vector<ValueId> inputs = node.inputs;
      for (ValueId& input : inputs) {
        if (const auto it = copies.find(input); it != copies.end()) input = it->second;
      }
      const std::string op = node.domain.empty() ? node.op : node.domain + "." + node.op;
      copies[v] = b.op(op, std::move(inputs), node.attributes);
    }
    return copies.at(order_.back());
  }

 private:
  bool is_scalar(ValueId v) const { return v == kAbsent || (g_.graph().constant(v) != nullptr && has_one_element(g_.graph()[v].type)); }

  /// Whether v is a constant of one element, or is computed from the root alone.
  bool visit(ValueId v) {
    if (is_scalar(v) || v == root_ || seen_.contains(v)) return true;
    const Node* const node = g_.producer(v);
    if (node == nullptr || order_.size() >= kMostNodes) return false;
    if (const auto d = g_.dequantised_evenly(v); d && is_scalar(d->scale) && is_scalar(d->zero)) {
      const bool known = d->q == root_ || seen_.contains(d->q) || visit_bytes(d->q);
      if (!known) return false;
    } else {
      const auto it = kFunctions.find(node->op);
      const bool is_gelu = node->domain == "com.microsoft" && (node->op == "QuickGelu" || node->op == "Gelu");
      if (!is_gelu && (it == kFunctions.end() || !node->domain.empty())) return false;
      for (const ValueId input : node->inputs) {
        if (!visit(input)) return false;
      }
      is_costly_ = is_costly_ || is_gelu || it->second;
      ++steps_;
    }
    return add(v);
  }
  /// Bytes that are themselves computed from the root, or the root.
  bool visit_bytes(ValueId q) {
    const Node* const node = g_.producer(q);
    if (node != nullptr && node->domain == "onnxc" && node->op == "ByteTable") return visit_table(*node, q);
    if (root_ != kAbsent) return false;
    root_ = q;
    return true;
  }
  bool visit_table(const Node& node, ValueId q) {
    if (root_ == kAbsent) root_ = node.inputs[0];
    if (node.inputs[0] != root_) return false;
    is_costly_ = true;  // one table takes the place of two steps
    return add(q);
  }
  bool add(ValueId v) {
    order_.push_back(v);
    seen_.insert(v);
    return true;
  }

  QuantisedGraph& g_;
  ValueId root_ = kAbsent;
  std::vector<ValueId> order_;  ///< in an order in which they can be computed
  std::set<ValueId> seen_;
  int steps_ = 0;
  bool is_function_ = false, is_costly_ = false;
};

}  // namespace

std::optional<ValueId> look_up(QuantisedGraph& g, GraphBuilder& b, ValueId real, const Quantisation& as) {
  if (!is_byte(as.type) || g.graph().constant(real) != nullptr) return std::nullopt;
  Function f(g, real);
  if (!f.is_worth_a_table()) return std::nullopt;
  const ElementType from = b.type(f.root()).element;
  TensorData all;
  all.type = from;
  all.shape = {256};
  for (int i = 0; i < 256; ++i) all.bytes.push_back(static_cast<std::byte>(i));
  const ValueId codes = b.graph().add_constant("codes", std::make_shared<const TensorData>(std::move(all)));
  const ValueId values = f.of(b, codes);
  const ValueId table = to_quantised(b, values, as_scalar(b, as.scale), as_scalar(b, as.zero), as.type);
  return b.op("onnxc.ByteTable", {f.root(), b.op("Reshape", {table, b.integers({256})})});
}

}  // namespace onnxc
