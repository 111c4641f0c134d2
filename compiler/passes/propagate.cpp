#include "compiler/passes/propagate.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/operator.h"

namespace onnxc {
namespace {

class Propagation {
 public:
  explicit Propagation(FoldBudget budget) : budget_(budget) {}

  void run(Graph& graph) {
    std::vector<Node> nodes = std::move(graph.nodes);
    graph.nodes.clear();
    for (Node& node : nodes) visit(graph, std::move(node));
  }

 private:
  static constexpr int kLatest = 1000;

  void visit(Graph& graph, Node node) {
    for (ValueId v : node.outputs) {
      if (v != kAbsent) graph[v].elements.reset();
    }
    if (node.version != kLatest && !node.is_map()) {
      const Operator* op = find_operator(node);
      if (op != nullptr && op->resolve != nullptr) {
        GraphBuilder builder(graph, node.name, fresh_);
        op->resolve(builder, node);
        for (Node& added : builder.take()) settle(graph, std::move(added));
      }
      node.version = kLatest;
      while (node.epilogue_operands == 0 && !node.inputs.empty() && node.inputs.back() == kAbsent) node.inputs.pop_back();
    }
    if (!node.regions.empty()) enter_regions(graph, node);
    infer_node(graph, node, fresh_);
    settle(graph, std::move(node));
  }

  /// Gives the regions the types (and known values) of what they capture, and walks them.
  void enter_regions(Graph& graph, Node& node) {
    for (auto& [name, region] : node.regions) {
      const std::size_t formals = region->inputs.size() - node.captures.size();
      for (std::size_t i = 0; i < node.captures.size(); ++i) {
        Value& inner = (*region)[region->inputs[formals + i]];
        const Value& outer = graph[node.captures[i]];
        inner.type = outer.type;
        inner.elements = outer.elements;
        known_captures_[&inner] = outer.constant;
      }
      // Loop and Scan give their bodies' formals types in their own rules, from what flows in.
      if (node.is("If")) run(*region);
    }
  }

  /// The node, inferred: kept, or replaced by its value.
  void settle(Graph& graph, Node node) {
    if (!fold(graph, node)) graph.nodes.push_back(std::move(node));
  }

  bool fold(Graph& graph, const Node& node) {
    if (!node.regions.empty()) return false;
    int64_t bytes = 0;
    for (ValueId v : node.outputs) {
      if (v == kAbsent) continue;
      const Value& value = graph[v];
      if (!value.type.is_tensor() || value.type.element == ElementType::String) return false;
      if (value.elements && std::all_of(value.elements->begin(), value.elements->end(), [](Dim d) { return d.is_constant(); })) continue;
      if (value.type.is_static()) {
        int64_t n = 0;
        try {
          n = storage_bytes(value.type.element, element_count(value.type.extents).value());
        } catch (const Error&) {
          return false;  // too many to count, so too many to fold
        }
        if (n < 0 || n > budget_.most_bytes || spent_ + bytes + n > budget_.total_bytes) return false;
        bytes += n;
      }
    }
    if (fold_elements(graph, node)) return true;
    std::vector<Constant> inputs;
    for (ValueId v : node.inputs) {
      if (v != kAbsent && !graph[v].constant) return false;
      inputs.push_back(v == kAbsent ? nullptr : graph[v].constant);
    }
    std::optional<std::vector<TensorData>> outputs;
    try {
      outputs = evaluate_node(graph, node, std::move(inputs));
    } catch (const Error& e) {
      if (e.kind() == ErrorKind::Internal) throw;
      return false;  // a run will say what is wrong
    }
    if (!outputs) return false;
    spent_ += bytes;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kAbsent) continue;
      Value& value = graph[node.outputs[i]];
      value.constant = std::make_shared<TensorData>(std::move((*outputs)[i]));
      value.type = Type::tensor(value.constant->type, to_extents(value.constant->shape));
      value.elements.reset();
    }
    return true;
  }

  /// Shape arithmetic that came to constants, whatever its inputs were.
  bool fold_elements(Graph& graph, const Node& node) {
    if (node.outputs.size() != 1 || node.outputs[0] == kAbsent) return false;
    Value& value = graph[node.outputs[0]];
    if (!value.elements || !value.type.is_static() || !(is_integer(value.type.element) || value.type.element == ElementType::Bool)) return false;
    if (std::any_of(value.elements->begin(), value.elements->end(), [](Dim d) { return !d.is_constant(); })) return false;
    auto t = std::make_shared<TensorData>(TensorData::zeros(value.type.element, values(value.type.extents)));
    ONNXC_CHECK(t->count() == static_cast<int64_t>(value.elements->size()), "known elements fill the tensor");
    const auto width = static_cast<std::size_t>(info(value.type.element).bits / 8);
    for (std::size_t i = 0; i < value.elements->size(); ++i) {
      const int64_t v = (*value.elements)[i].value();
      std::memcpy(t->bytes.data() + i * width, &v, width);
    }
    value.constant = std::move(t);
    value.elements.reset();
    return true;
  }

  FoldBudget budget_;
  int64_t spent_ = 0;
  int fresh_ = 0;
  std::map<const Value*, Constant> known_captures_;
};

}  // namespace

void propagate(Graph& graph, FoldBudget budget) { Propagation(budget).run(graph); }

}  // namespace onnxc
