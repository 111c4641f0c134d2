#include "compiler/passes/float_nodes.h"

#include <algorithm>

#include "compiler/ops/operator.h"
#include "compiler/ops/quant/linear.h"
#include "compiler/passes/quantised_rules.h"

namespace onnxc {
namespace {

/// Whether the node reads or makes integers of few bits.
bool is_of_quantised(const Node& node) {
  const std::string_view op = node.op;
  return op.starts_with("QLinear") || op.starts_with("DynamicQuantize") || op.ends_with("Integer") || op.ends_with("NBits") ||
         op == "QuantizeLinear" || op == "DequantizeLinear";
}

bool is_elementwise(const Node& node) {
  const Operator* op = find_operator(node);
  return (op != nullptr && op->express != nullptr) || node.is("BatchNormalization") || node.is("Clip") || node.is("Dropout");
}

bool gives_floats(const Graph& graph, const Node& node) {
  return std::ranges::any_of(node.outputs,
                             [&](ValueId v) { return v != kAbsent && graph[v].type.is_tensor() && is_float(graph[v].type.element); });
}

/// Values that are elementwise functions of dequantised activations.
std::set<ValueId> dequantised_values(const Graph& graph) {
  std::set<ValueId> found;
  for (const Node& node : graph.nodes) {
    const bool begins = node.op == "DequantizeLinear" && graph.constant(node.inputs[0]) == nullptr;
    if (begins || (is_elementwise(node) && std::ranges::any_of(node.inputs, [&](ValueId v) { return found.contains(v); })))
      found.insert(node.outputs.begin(), node.outputs.end());
  }
  return found;
}

/// Values of which elementwise functions are quantised.
std::set<ValueId> quantised_values(const Graph& graph) {
  std::set<ValueId> found;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    if (node->op == "QuantizeLinear" || node->op == "DynamicQuantizeLinear") found.insert(node->inputs[0]);
    else if (is_elementwise(*node) && std::ranges::any_of(node->outputs, [&](ValueId v) { return found.contains(v); }))
      found.insert(node->inputs.begin(), node->inputs.end());
  }
  return found;
}

}  // namespace

std::string first_output(const Graph& graph, const Node& node) {
  const auto output = std::ranges::find_if(node.outputs, [](ValueId v) { return v != kAbsent; });
  return output != node.outputs.end() ? graph[*output].name : "";
}

FloatNodes::FloatNodes(const Graph& graph) {
  is_quantised_ = std::ranges::any_of(graph.nodes, is_of_quantised);
  if (!is_quantised_) return;
  std::set<ValueId> read = dequantised_values(graph), written = quantised_values(graph);
  for (std::set<ValueId>* set : {&read, &written}) set->erase(kAbsent);
  for (const Node& node : graph.nodes) {
    const auto is_in = [](const std::set<ValueId>& set) { return [&set](ValueId v) { return set.contains(v); }; };
    if (is_elementwise(node) || is_of_quantised(node) || !node.regions.empty() || node.outputs.empty() || !gives_floats(graph, node))
      continue;
    if (std::ranges::any_of(node.inputs, is_in(read)) || std::ranges::any_of(node.outputs, is_in(written)))
      among_quantised_.insert(node.outputs[0]);
  }
}

void FloatNodes::record(Graph& graph, const Node& node, const std::string& why) const {
  if (!is_quantised_ || node.outputs.empty()) return;
  if (std::ranges::all_of(node.inputs, [&](ValueId v) { return v == kAbsent || graph.constant(v) != nullptr; })) return;
  const bool is_product = node.is("Conv") || node.is("MatMul") || node.is("Gemm"), is_among = among_quantised_.contains(node.outputs[0]);
  const std::string reason = !why.empty() || may_move_bytes(node) ? why : no_byte_form(node.full_op());
  if (!reason.empty() && (is_among || (is_product && gives_floats(graph, node)) || (node.op == "QuantizeLinear" && !why.empty())))
    graph.float_reasons[first_output(graph, node)] = reason;
}

}  // namespace onnxc
