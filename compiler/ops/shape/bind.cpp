// onnxc.Bind, onnxc.Let, onnxc.Require and onnxc.Assume connect a run with extents. They have no outputs.
//
//   () = onnxc.Bind(starts) binds ["@starts1", "@starts2"]
//       reads the elements of a tensor; from here on they are extents
//   () = onnxc.Let() {value = ["max(0, @ends2 - @starts1)"]} binds ["@slice3"]
//       gives an expression a name
//   () = onnxc.Require() {extents = ["@starts1 + 1", "batch"], kind = 0}
//       ends the run if two extents differ; for other kinds see requirement.h
//   () = onnxc.Assume(condition) {value = 1}
//       ends the run if an integer is not the one that the graph was written for
//
// An element beyond kFar is clamped: no tensor has such an extent, and as a bound of a slice it means "to the end".
#include <fmt/format.h>

#include "compiler/ops/kernel_query.h"
#include "compiler/ops/shape_arithmetic.h"

namespace onnxc {

namespace {

/// A node of ours without outputs. `value`: what it reads, if anything.
Node make_own_node(const char* op, const Graph* graph = nullptr, ValueId value = kAbsent) {
  Node node;
  node.domain = "onnxc";
  node.op = op;
  node.version = 1000;
  if (graph != nullptr) {
    node.name = (*graph)[value].name;
    node.inputs = {value};
  }
  return node;
}

bool is_own(const Node& node, std::string_view op) { return node.domain == "onnxc" && node.op == op; }

}  // namespace

Node make_bind_node(Graph& graph, ValueId value, int& fresh) {
  Node node = make_own_node("Bind", &graph, value);
  const int64_t count = element_count(graph[value].type.extents).value();
  DimList elements;
  for (int64_t i = 0; i < count; ++i) {
    node.binds.push_back(fmt::format("@{}{}", "e", ++fresh));
    elements.push_back(Dim::run_time_symbol(node.binds.back(), -kFar, kFar));
  }
  graph[value].elements = std::move(elements);
  return node;
}

bool is_bind(const Node& node) { return is_own(node, "Bind"); }

Node make_let_node(Dim expression, std::string symbol) {
  Node node = make_own_node("Let");
  node.attributes["value"] = std::vector<std::string>{expression.text()};
  node.binds = {std::move(symbol)};
  return node;
}

bool is_let(const Node& node) { return is_own(node, "Let"); }

Node make_require_node(const Requirement& requirement) {
  Node node = make_own_node("Require");
  node.attributes["extents"] = std::vector<std::string>{requirement.a.text(), requirement.b.text()};
  node.attributes["kind"] = static_cast<int64_t>(requirement.kind);
  node.attributes["who"] = requirement.who;
  return node;
}

bool is_require(const Node& node) { return is_own(node, "Require"); }

Node make_assume_node(const std::string& name, ValueId integer, int64_t value) {
  Node node = make_own_node("Assume");
  node.name = name;
  node.inputs = {integer};
  node.attributes["value"] = value;
  return node;
}

bool is_assume(const Node& node) { return is_own(node, "Assume"); }

namespace {

void infer_bind(Inference& n) {
  DimList elements;
  for (const std::string& symbol : n.node().binds) elements.push_back(Dim::run_time_symbol(symbol, -kFar, kFar));
  Value& value = n.graph()[n.node().inputs[0]];
  // What has become known in the meantime is better than a symbol.
  if (!value.constant && !value.elements) value.elements = std::move(elements);
}

void lower_bind(KernelQuery& l) {
  const View x = l.in(0);
  DimList symbols;
  for (const std::string& symbol : l.node().binds) symbols.push_back(Dim::symbol(symbol));
  l.bind(x.pointer, std::move(symbols));
}

void infer_let(Inference&) {}

void lower_let(KernelQuery& l) {
  const Dim value = parse_dim(std::get<std::vector<std::string>>(l.node().attributes.at("value")).at(0));
  l.let(Dim::symbol(l.node().binds.at(0)), value);
}

void infer_require(Inference&) {}

void lower_require(KernelQuery& l) {
  const auto& texts = std::get<std::vector<std::string>>(l.node().attributes.at("extents"));
  l.require({parse_dim(texts.at(0)), parse_dim(texts.at(1)), static_cast<Requirement::Kind>(l.node().integer("kind", 0)),
             l.node().string("who", "")});
}

void infer_assume(Inference& n) {
  n.unify(n.known_elements(0, "the condition").at(0), std::get<int64_t>(n.node().attributes.at("value")),
          "what follows fits one branch alone, the condition");
}

/// Nothing to do: the shape rule's onnxc.Require does it.
void lower_assume(KernelQuery&) {}

}  // namespace

extern const Operator op_Bind, op_Let, op_Require, op_Assume;
const Operator op_Let{
    .name = "Let", .domain = "onnxc", .max_inputs = 0, .min_outputs = 0, .max_outputs = 0, .infer = infer_let, .lower = lower_let};
const Operator op_Bind{.name = "Bind",
                       .domain = "onnxc",
                       .min_inputs = 1,
                       .max_inputs = 1,
                       .min_outputs = 0,
                       .max_outputs = 0,
                       .infer = infer_bind,
                       .lower = lower_bind};
const Operator op_Require{.name = "Require",
                          .domain = "onnxc",
                          .max_inputs = 0,
                          .min_outputs = 0,
                          .max_outputs = 0,
                          .infer = infer_require,
                          .lower = lower_require};
const Operator op_Assume{.name = "Assume",
                         .domain = "onnxc",
                         .min_inputs = 1,
                         .max_inputs = 1,
                         .min_outputs = 0,
                         .max_outputs = 0,
                         .infer = infer_assume,
                         .lower = lower_assume};

}  // namespace onnxc
