#include "compiler/ops/in_float.h"

#include <algorithm>
#include <string_view>

#include "compiler/ops/tensor/moves.h"

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
    const ElementType own = v == kAbsent ? ElementType::Undefined : b.type(v).element;
    inputs.push_back((own == from && is_float(from)) || is_half(own) ? cast_to(b, v, type) : v);
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

namespace {

constexpr std::string_view kProducts[] = {"Conv", "Einsum", "MatMul"};
/// Besides those for which only_moves holds.
constexpr std::string_view kMovers[] = {"Concat", "Pad", "Split"};
/// Their results are operands, or negated ones, which need no rounding.
constexpr std::string_view kKeepers[] = {"Abs", "Clip", "Max", "MaxPool", "Min", "Neg", "Relu", "Where"};

template <std::size_t n>
bool is_among(const std::string_view (&list)[n], const Node& node) {
  return std::ranges::find(list, node.op) != std::end(list);
}

bool moves(const Node& node) { return only_moves(node) || is_among(kMovers, node); }

bool is_computed_in_float(const Graph& graph, const Node& node, const Rounded& rounded) {
  const auto has_half = [&](const std::vector<ValueId>& values) {
    return std::ranges::any_of(values, [&](ValueId v) { return v != kAbsent && is_half(graph[v].type.element); });
  };
  if (node.is_map() || !node.domain.empty() || !node.regions.empty() || node.op == "Cast") return false;
  if (!has_half(node.inputs) && !has_half(node.outputs)) return false;
  if (moves(node)) return rounded.contains(node.input(0));
  const Operator* op = find_operator(node);
  return op != nullptr && (op->express != nullptr || is_among(kProducts, node) || node.op == "MaxPool");
}

}  // namespace

std::optional<std::vector<ValueId>> compute_rounded(GraphBuilder& b, const Node& node, Rounded& rounded) {
  if (!is_computed_in_float(b.graph(), node, rounded)) return std::nullopt;
  std::vector<ValueId> inputs;
  for (int i = 0; i < node.own_inputs(); ++i) {
    const ValueId v = node.input(i);
    const auto known = rounded.find(v);
    if (known != rounded.end() && known->second != kAbsent) inputs.push_back(known->second);
    else inputs.push_back(v != kAbsent && is_half(b.type(v).element) ? cast_to(b, v, ElementType::F32) : v);
  }
  std::size_t outputs = node.outputs.size();
  while (outputs > 1 && node.outputs[outputs - 1] == kAbsent) --outputs;
  std::vector<ValueId> results = b.ops(node.full_op(), std::move(inputs), static_cast<int>(outputs), node.attributes);
  const bool keeps = moves(node) || is_among(kKeepers, node);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const ValueId y = node.outputs[i];
    const ElementType type = y == kAbsent ? ElementType::Undefined : b.type(y).element;
    if (is_half(type)) rounded.emplace(y, keeps ? results[i] : kAbsent);
    results[i] = y == kAbsent ? kAbsent : cast_to(b, results[i], type);
  }
  return results;
}

}  // namespace onnxc
