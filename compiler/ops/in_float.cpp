#include "compiler/ops/in_float.h"

namespace onnxc {

ValueId cast_to(GraphBuilder& b, ValueId value, ElementType type) {
  if (b.type(value).element == type) return value;
  return b.op("Cast", {value}, {{"to", static_cast<int64_t>(type)}});
}

std::vector<ValueId> compute_in(GraphBuilder& b, const Node& node, ElementType type) {
  const ElementType from = b.type(node.input(0)).element;
  std::vector<ValueId> inputs;
  for (int i = 0; i < node.own_inputs(); ++i) {
    const ValueId v = node.input(i);
    inputs.push_back(v != kAbsent && (b.type(v).element == from || is_half(b.type(v).element)) ? cast_to(b, v, type) : v);
  }
  std::size_t outputs = node.outputs.size();
  while (outputs > 1 && node.outputs[outputs - 1] == kAbsent) --outputs;
  std::vector<ValueId> results = b.ops(node.full_op(), std::move(inputs), static_cast<int>(outputs), node.attributes);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (node.outputs[i] == kAbsent) results[i] = kAbsent;
    else results[i] = cast_to(b, results[i], b.type(node.outputs[i]).element);
  }
  return results;
}

std::optional<std::vector<ValueId>> compute_in_float(GraphBuilder& b, const Node& node) {
  if (!is_half(b.type(node.input(0)).element)) return std::nullopt;
  return compute_in(b, node, ElementType::F32);
}

}  // namespace onnxc
