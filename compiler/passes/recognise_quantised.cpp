// Values of 8 bits between QuantizeLinear and DequantizeLinear stay bytes wherever they can:
//
//   r = Conv (DequantizeLinear x sx zx) (DequantizeLinear w sw zw) (DequantizeLinear b sx*sw)     y = QuantizeLinear (Relu r) sy zy
//
// becomes y = saturate(round(relu(sums * (sx sw / sy))) + zy), with sums = ByteConv x w. The rules are in quantised_products, quantised_moves,
// quantised_results and quantised_tables.
#include <algorithm>
#include <map>

#include "compiler/ops/quant/linear.h"
#include "compiler/passes/float_nodes.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/quantised_rules.h"

namespace onnxc {
namespace {

/// The zero point of a quantising node, 128 greater and of u8.
void raise_zero(Graph& graph, Node& node) {
  const TensorData* const own = graph.constant(node.input(2));
  const int64_t zero = (own != nullptr ? to_integers(*own)[0] : 0) + 128;
  const std::vector<int64_t> shape = own != nullptr ? own->shape : std::vector<int64_t>();
  node.inputs.resize(2, kAbsent);
  node.inputs.push_back(graph.add_constant(node.name, make_scalar(ElementType::U8, static_cast<uint8_t>(zero), shape)));
}

/// What is quantised to i8 only to be dequantised again is u8 instead, 128 greater, as kernels read it.
void make_unsigned(Graph& graph) {
  const PerValue<int> uses = use_counts(graph);
  std::map<ValueId, std::vector<Node*>> readers;
  for (Node& node : graph.nodes) {
    for (ValueId v : node.inputs) readers[v].push_back(&node);
  }
  for (Node& node : graph.nodes) {
    if (!quantises(node, "QuantizeLinear") || node.outputs.size() != 1) continue;
    const ValueId y = node.outputs[0];
    if (graph[y].type.element != ElementType::I8 || uses[y] != static_cast<int>(readers[y].size())) continue;
    const auto has_one_zero = [&](const Node& n) {
      const TensorData* zero = graph.constant(n.input(2));
      return n.has_input(2) ? zero != nullptr && zero->count() == 1 : true;
    };
    if (!has_one_zero(node) || !std::ranges::all_of(readers[y], [&](const Node* n) {
          return quantises(*n, "DequantizeLinear") && n->inputs[0] == y && has_one_zero(*n) && n->integer("block_size", 0) == 0;
        }))
      continue;
    graph[y].type.element = ElementType::U8;
    graph[y].stated = {};  // the model's type no longer holds
    node.attributes.erase("output_dtype");
    raise_zero(graph, node);
    for (Node* reader : readers[y]) raise_zero(graph, *reader);
  }
}

using Results = Attempt<std::vector<ValueId>>;

Results rewrite(QuantisedGraph& g, GraphBuilder& b, const Node& node) {
  if (node.outputs.empty() || (node.outputs.size() == 1 && node.outputs[0] == kAbsent)) return std::nullopt;
  // Each operator is the matter of one rule at most.
  if (auto moved = move_bytes(g, b, node); moved || !moved.why().empty() || node.outputs.size() != 1) return moved;
  std::string why;
  for (const auto rule : {quantise, product_of_bytes, transposed_convolution, average_of_bytes}) {
    const auto y = rule(g, b, node);
    if (y) return std::vector{*y};
    if (!y.why().empty()) why = y.why();
  }
  return Refusal{std::move(why)};
}

Graph recognise(Graph graph, bool digits) {
  make_unsigned(graph);
  const FloatNodes floats(graph);
  QuantisedGraph g(graph, digits);
  std::vector<Node> nodes = std::move(graph.nodes);
  graph.nodes.clear();
  for (Node& node : nodes) {
    for (auto& [name, region] : node.regions) {
      *region = recognise(std::move(*region), digits);
      graph.float_reasons.merge(region->float_reasons);
    }
    for (auto* list : {&node.inputs, &node.captures}) {
      for (ValueId& v : *list) v = g.resolved(v);
    }
    GraphBuilder b(graph, node.name, g.fresh());
    const auto results = node.guard([&] { return rewrite(g, b, node); });
    if (results) {
      g.replace(b, node, *results);
    } else {
      floats.record(graph, node, results.why());
      g.append(std::move(node));
    }
  }
  return graph;
}

}  // namespace

Graph recognise_digits(Graph graph) { return recognise(std::move(graph), true); }
Graph recognise_quantised(Graph graph) { return recognise(std::move(graph), false); }

}  // namespace onnxc
