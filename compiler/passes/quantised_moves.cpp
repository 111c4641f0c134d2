// Operators that only move values, or take the greatest of several, do so on bytes: they commute with QuantizeLinear and DequantizeLinear of one scale.
#include "compiler/ops/quant/linear.h"
#include "compiler/ops/tensor/moves.h"
#include "compiler/passes/quantised_rules.h"

namespace onnxc {
namespace {

ValueId dequantise(GraphBuilder& b, ValueId q, const Dequantised& as) {
  std::vector<ValueId> inputs{q, as_scalar(b, as.scale)};
  if (as.zero != kAbsent) inputs.push_back(as_scalar(b, as.zero));
  return b.op("DequantizeLinear", std::move(inputs));
}

Attempt<std::vector<ValueId>> concat(QuantisedGraph& g, GraphBuilder& b, const Node& node) {
  const auto first = g.dequantised_evenly(node.input(0));
  std::vector<ValueId> parts;
  for (ValueId v : node.inputs) {
    const auto x = g.dequantised_evenly(v);
    if (!x) return x.refusal();
    if (!first) return first.refusal();
    if (b.type(x->q).element != b.type(first->q).element || !g.equal_constants(x->scale, first->scale) ||
        !g.has_same_zero(x->zero, first->zero))
      return Refusal{"it joins values that have different scales or zero points; one for all would do"};
    parts.push_back(x->q);
  }
  return std::vector{dequantise(b, b.op("Concat", std::move(parts), node.attributes), *first)};
}

/// Pads of zero are bytes of the zero point.
Attempt<std::vector<ValueId>> pad(QuantisedGraph& g, GraphBuilder& b, const Node& node) {
  const auto x = g.dequantised_evenly(node.input(0));
  if (!x) return x.refusal();
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = x->q;
  if (node.string("mode", "constant") == "constant") {
    if (node.has_input(2)) {
      const TensorData* value = g.graph().constant(node.input(2));
      if (value == nullptr || value->count() != 1 || to_doubles(*value)[0] != 0) return Refusal{"it pads with another value than 0"};
    }
    if (inputs.size() < 3) inputs.resize(3, kAbsent);
    inputs[2] = x->zero == kAbsent ? b.number(b.type(x->q).element, 0) : as_scalar(b, x->zero);
  }
  return std::vector{dequantise(b, b.op("Pad", std::move(inputs), node.attributes), *x)};
}

}  // namespace

bool moves_values(const Node& node) { return only_moves(node) || (node.is("MaxPool") && node.outputs.size() == 1); }

bool may_move_bytes(const Node& node) { return moves_values(node) || node.is("Concat") || node.is("Pad") || node.is("Split"); }

Attempt<std::vector<ValueId>> move_bytes(QuantisedGraph& g, GraphBuilder& b, const Node& node) {
  if (!may_move_bytes(node)) return std::nullopt;
  if (node.op == "Concat") return concat(g, b, node);
  if (node.op == "Pad") return pad(g, b, node);
  const auto x = g.dequantised_evenly(node.input(0));
  if (!x) return x.refusal();
  if (node.op == "MaxPool" && !g.is_usual(x->scale)) return Refusal{"the scale of its input is known only to a run, or not positive"};
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = x->q;
  std::vector<ValueId> results = b.ops(node.op, std::move(inputs), static_cast<int>(node.outputs.size()), node.attributes);
  for (ValueId& v : results) v = dequantise(b, v, *x);
  return results;
}

}  // namespace onnxc
