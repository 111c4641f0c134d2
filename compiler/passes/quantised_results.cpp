// QuantizeLinear of what bytes were computed to:
//
//   of what was dequantised by the same scale     the bytes themselves
//   of a function of one value of bytes           a table (quantised_tables)
//   of values that were moved, or joined          what was moved is quantised before
//   of a product, of its Relu, of its Clip        scales become one factor
#include "compiler/ops/quant/linear.h"
#include "compiler/passes/quantised_rules.h"

namespace onnxc {
namespace {

class Quantiser {
 public:
  Quantiser(QuantisedGraph& g, GraphBuilder& b, const Quantisation& as) : g_(g), b_(b), as_(as) {}

  std::optional<ValueId> quantised(ValueId real) {
    if (const auto d = g_.dequantised_evenly(real); d && is_same(*d)) return d->q;
    if (const auto y = look_up(g_, b_, real, as_)) return y;
    if (const auto y = moved(real)) return y;
    return product(real);
  }

 private:
  bool is_same(const Dequantised& d) const {
    return b_.type(d.q).element == as_.type && g_.equal_constants(d.scale, as_.scale) && g_.has_same_zero(d.zero, as_.zero) &&
           g_.is_usual(as_.scale);
  }
  ValueId quantised_or_not(ValueId real) {
    if (const auto y = quantised(real)) return *y;
    std::vector<ValueId> inputs{real, as_.scale};
    if (as_.zero != kAbsent) inputs.push_back(as_.zero);
    std::map<std::string, Attribute> attributes;
    if (as_.zero == kAbsent) attributes["output_dtype"] = static_cast<int64_t>(as_.type);
    return b_.op("QuantizeLinear", std::move(inputs), std::move(attributes));
  }

  /// Bytes are fewer to move than floats, and what computes the floats quantises them in registers.
  std::optional<ValueId> moved(ValueId real) {
    const Node* const found = g_.producer(real);
    if (found == nullptr || g_.uses(real) != 1 || !g_.is_usual(as_.scale) || !is_byte(as_.type)) return std::nullopt;
    if (!found->is("Concat") && (!moves_values(*found) || found->is("Gather"))) return std::nullopt;  // Gather may need few of the values
    const Node mover = *found;                                                                        // nodes are appended meanwhile
    g_.graph().float_reasons.erase(g_.graph()[real].name);
    if (mover.is("Concat")) {
      std::vector<ValueId> parts;
      for (const ValueId v : mover.inputs) parts.push_back(quantised_or_not(v));
      return b_.op("Concat", std::move(parts), mover.attributes);
    }
    std::vector<ValueId> inputs = mover.inputs;
    inputs[0] = quantised_or_not(inputs[0]);
    return b_.op(mover.op, std::move(inputs), mover.attributes);
  }

  /// Back to a product through what does not mind a positive factor.
  std::optional<ValueId> product(ValueId real) {
    if (!g_.is_usual(as_.scale)) return std::nullopt;
    std::vector<const Node*> between;
    ValueId v = real;
    while (!g_.scaled.contains(v)) {
      const Node* const next = g_.producer(v);
      if (next == nullptr || g_.uses(v) != 1 || !(next->is("Relu") || is_clip(*next))) return std::nullopt;
      between.push_back(next);
      v = next->inputs[0];
    }
    if (g_.uses(v) != 1) return std::nullopt;
    const Scaled product = g_.scaled.at(v);
    const ValueId divisor = as_scalar(b_, as_.scale);
    ValueId y = b_.op("Mul", {product.sums, b_.op("Div", {product.factor, divisor})});
    if (product.addend != kAbsent) y = b_.op("Add", {y, b_.op("Div", {product.addend, divisor})});
    for (auto it = between.rbegin(); it != between.rend(); ++it) {
      std::vector<ValueId> inputs{y};
      for (int i = 1; i < (*it)->own_inputs(); ++i)
        inputs.push_back((*it)->has_input(i) ? b_.op("Div", {as_scalar(b_, (*it)->input(i)), divisor}) : kAbsent);
      y = b_.op((*it)->op, std::move(inputs));
    }
    return round_to_quantised(b_, y, as_scalar(b_, as_.zero), as_.type);
  }
  bool is_clip(const Node& node) const {
    if (!node.is("Clip")) return false;
    for (int i = 1; i < node.own_inputs(); ++i) {
      if (node.has_input(i) && g_.graph().constant(node.input(i)) == nullptr) return false;
    }
    return true;
  }

  QuantisedGraph& g_;
  GraphBuilder& b_;
  Quantisation as_;
};

}  // namespace

Attempt<ValueId> quantise(QuantisedGraph& g, GraphBuilder& b, const Node& node) {
  const auto as = g.quantisation(node);
  if (!as) return as.refusal();
  const auto y = Quantiser(g, b, *as).quantised(node.input(0));
  return y ? Attempt<ValueId>(*y) : std::nullopt;
}

}  // namespace onnxc
