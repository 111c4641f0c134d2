#include "compiler/passes/quantised_graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/passes/hand_over_name.h"

namespace onnxc {

bool has_one_element(const Type& type) { return element_count(type.extents) == Dim(1); }
bool quantises(const Node& node, const char* op) { return node.op == op && (node.domain.empty() || node.domain == "com.microsoft"); }

void QuantisedGraph::append(Node node) {
  for (ValueId v : node.outputs) {
    if (v != kAbsent) producer_[v] = static_cast<int>(graph_.nodes.size());
  }
  graph_.nodes.push_back(std::move(node));
}

void QuantisedGraph::replace(GraphBuilder& b, const Node& node, const std::vector<ValueId>& results) {
  for (Node& part : b.take()) append(std::move(part));
  for (std::size_t i = 0; i < results.size(); ++i) {
    const ValueId output = node.outputs[i], result = results[i];
    if (output == kAbsent) continue;
    same_[output] = result;
    if (producer_.contains(result)) hand_over_name(graph_, output, result);
    count_[result] = uses_[output];
    Node identity;
    identity.op = "Identity";
    identity.name = node.name;
    identity.version = 1000;
    identity.inputs = {result};
    identity.outputs = {output};
    graph_.nodes.push_back(std::move(identity));
  }
}

ValueId QuantisedGraph::resolved(ValueId v) const {
  const auto it = same_.find(v);
  return it == same_.end() ? v : it->second;
}

const Node* QuantisedGraph::producer(ValueId v) const {
  const auto it = producer_.find(v);
  return it == producer_.end() ? nullptr : &graph_.node(it->second);
}

int QuantisedGraph::uses(ValueId v) const {
  const auto it = count_.find(v);
  if (it != count_.end()) return it->second;
  return v < std::ssize(uses_) ? uses_[v] : 1;
}

Attempt<Dequantised> QuantisedGraph::dequantised(ValueId v, int bits) const {
  const Node* node = producer(v);
  if (node == nullptr || !quantises(*node, "DequantizeLinear")) return std::nullopt;
  const char* const what = graph_.constant(node->inputs[0]) != nullptr ? "weights" : "activations";
  const ElementType type = graph_[node->inputs[0]].type.element;
  if (!is_integer(type) || info(type).bits != bits) return Refusal{fmt::format("it has {} {}; u8 or i8 would do", name(type), what)};
  if (node->integer("block_size", 0) != 0)
    return Refusal{fmt::format("its {} have scales for blocks; one for each channel would do", what)};
  for (const ValueId real : {v, node->inputs[1]}) {
    if (const ElementType found = graph_[real].type.element; found != ElementType::F32)
      return Refusal{fmt::format("its {} are dequantised to {}; f32 would do", what, name(found))};
  }
  const int64_t axis = node->integer("axis", 1), rank = graph_[v].type.rank();
  return Dequantised{node->inputs[0], node->inputs[1], node->input(2), axis < 0 ? axis + rank : axis};
}

Attempt<Dequantised> QuantisedGraph::dequantised_weights(ValueId v) const {
  auto bytes = dequantised(v);
  for (const int bits : {4, 2}) {
    if (bytes) break;
    if (auto few = dequantised(v, bits)) return few;
  }
  return bytes;
}

Attempt<Dequantised> QuantisedGraph::dequantised_evenly(ValueId v, int bits) const {
  auto d = dequantised(v, bits);
  if (d && !has_one_element(graph_[d->scale].type)) return Refusal{"its input has a scale for each channel; one for all would do"};
  return d;
}

Attempt<Quantisation> QuantisedGraph::quantisation(const Node& node) const {
  if (!quantises(node, "QuantizeLinear") || node.outputs.size() != 1) return std::nullopt;
  const ElementType type = graph_[node.outputs[0]].type.element;
  const Value& scale = graph_[node.input(1)];
  if (!is_integer(type)) return Refusal{fmt::format("it gives {}; integers would do", name(type))};
  if (node.integer("block_size", 0) != 0) return Refusal{"it has scales for blocks; one for all would do"};
  if (!has_one_element(scale.type)) return Refusal{"it has a scale for each channel; one for all would do"};
  if (scale.type.element != ElementType::F32) return Refusal{fmt::format("its scale is {}; f32 would do", name(scale.type.element))};
  if (graph_.constant(node.input(1)) == nullptr) return Refusal{"its scale is known only to a run"};
  if (node.has("precision")) return Refusal{"it has the attribute precision"};
  return Quantisation{node.input(1), node.input(2), type};
}

bool QuantisedGraph::equal_constants(ValueId a, ValueId b) const {
  if (a == b) return true;
  const TensorData *x = graph_.constant(a), *y = graph_.constant(b);
  return x != nullptr && y != nullptr && x->type == y->type && x->count() == y->count() && x->bytes == y->bytes;
}

bool QuantisedGraph::has_same_zero(ValueId a, ValueId b) const {
  const auto is_zero = [&](ValueId v) {
    const TensorData* c = graph_.constant(v);
    return v == kAbsent || (c != nullptr && std::ranges::all_of(to_integers(*c), [](int64_t z) { return z == 0; }));
  };
  return (is_zero(a) && is_zero(b)) || (a != kAbsent && b != kAbsent && equal_constants(a, b));
}

bool QuantisedGraph::is_usual(ValueId scale) const {
  const TensorData* constant = graph_.constant(scale);
  if (constant == nullptr || constant->count() != 1) return false;
  const double value = to_doubles(*constant)[0];
  return value > 1e-30 && value < 1e30;
}

}  // namespace onnxc
