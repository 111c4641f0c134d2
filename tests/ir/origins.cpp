// Which nodes of the model each step stands for, after passes have fused nodes and taken nodes apart.
#include "compiler/ir/origins.h"

#include <catch2/catch.hpp>

using namespace onnxc;

namespace {

Step step_of(const std::string& value, BufferId reads, BufferId writes) {
  Call call{.kernel = "kernel", .header = {}, .function = "kernel"};
  call.args = {PointerArg{writes, true, 0}, PointerArg{reads, false, 0}};
  return {std::move(call), "", value};
}

Node node(const std::string& op, std::vector<ValueId> inputs, ValueId output) {
  Node result;
  result.op = op;
  result.inputs = std::move(inputs);
  result.outputs = {output};
  return result;
}

std::vector<std::vector<std::string>> names(const std::vector<std::vector<Origin>>& origins) {
  std::vector<std::vector<std::string>> result;
  for (const auto& nodes : origins) {
    auto& of_step = result.emplace_back();
    for (const Origin& origin : nodes) of_step.push_back(origin.node->op);
  }
  return result;
}

}  // namespace

TEST_CASE("a step stands for the nodes between its value and those of other steps") {
  Graph model;
  const ValueId x = model.add_value("x"), a = model.add_value("a"), b = model.add_value("b"), c = model.add_value("c"),
                d = model.add_value("d");
  model.inputs = {x};
  model.nodes.push_back(node("Conv", {x}, a));
  model.nodes.push_back(node("Relu", {a}, b));
  model.nodes.push_back(node("LayerNormalization", {b}, c));
  model.nodes.push_back(node("Add", {c, x}, d));
  model.outputs = {d};
  Program program;
  program.buffers.resize(5);
  // Conv was fused with Relu. LayerNormalization was taken apart into a mean, whose value has no name in the model,
  // and the rest, which was fused with Add.
  program.steps = {step_of("b", 0, 1), step_of("mean_0", 1, 2), step_of("d", 2, 3)};
  CHECK(names(find_origins(model, program)) ==
        std::vector<std::vector<std::string>>{{"Conv", "Relu"}, {"LayerNormalization", "Add"}, {"LayerNormalization", "Add"}});
}

TEST_CASE("a step that writes an output is known by the output's name where passes gave its value another") {
  Graph model;
  const ValueId x = model.add_value("x"), y = model.add_value("y");
  model.inputs = {x};
  model.nodes.push_back(node("Gemm", {x}, y));
  model.outputs = {y};
  Program program;
  program.buffers.resize(2);
  program.buffers[1].name = "y";
  program.buffers[1].space = Buffer::Space::Output;
  program.steps = {step_of("product", 0, 1)};
  CHECK(names(find_origins(model, program)) == std::vector<std::vector<std::string>>{{"Gemm"}});
}

namespace {

/// Adds a node under a name of its own.
ValueId add(Graph& model, const std::string& op, std::vector<ValueId> inputs, const std::string& output, const std::string& name = "") {
  const ValueId value = model.add_value(output);
  model.nodes.push_back(node(op, std::move(inputs), value));
  model.nodes.back().name = name.empty() ? output : name;
  return value;
}

}  // namespace

TEST_CASE("nodes of constants are nobody's, and a part of a node is known by the node's name") {
  Graph model;
  ValueId x = model.add_value("x");
  model.inputs = {x};
  for (const std::string i : {"0", "1", "2"}) {
    const ValueId w = model.add_constant("w" + i, std::vector<int64_t>{1, 2, 3});
    x = add(model, "Conv", {x, add(model, "DequantizeLinear", {w}, "wd" + i)}, "c" + i, "conv" + i);
    x = add(model, "DequantizeLinear", {add(model, "QuantizeLinear", {x}, "q" + i, "quantise" + i)}, "d" + i, "dequantise" + i);
  }
  model.outputs = {x};
  Program program;
  program.buffers.resize(7);
  const std::vector<std::vector<std::string>> expected = {{"Conv", "QuantizeLinear"}, {"DequantizeLinear"},
                                                          {"Conv", "QuantizeLinear"}, {"DequantizeLinear"},
                                                          {"Conv", "QuantizeLinear"}, {"DequantizeLinear"}};
  program.steps = {step_of("q0", 0, 1), step_of("d0", 1, 2), step_of("q1", 2, 3),
                   step_of("d1", 3, 4), step_of("q2", 4, 5), step_of("d2", 5, 6)};
  CHECK(names(find_origins(model, program)) == expected);
  // Parts of nodes that were taken apart: their values have no name in the model.
  program.steps = {step_of("quantise0.3", 0, 1),   step_of("dequantise0", 1, 2), step_of("quantise1.3", 2, 3),
                   step_of("dequantise1.2", 3, 4), step_of("quantise2.3", 4, 5), step_of("dequantise2.3", 5, 6)};
  for (const auto& nodes : names(find_origins(model, program))) CHECK(nodes.size() <= 3);
}

TEST_CASE("nodes of extents alone are nobody's") {
  Graph model;
  const ValueId x = model.add_value("x");
  model.inputs = {x};
  const ValueId a = add(model, "Relu", {x}, "a"), index = model.add_constant("index", std::vector<int64_t>{0});
  const ValueId shape = add(model, "Concat", {add(model, "Gather", {add(model, "Shape", {a}, "s"), index}, "g")}, "shape");
  model.outputs = {add(model, "Exp", {add(model, "Reshape", {a, shape}, "r")}, "y")};
  Program program;
  program.buffers.resize(3);
  program.steps = {step_of("a", 0, 1), step_of("y", 1, 2)};
  CHECK(names(find_origins(model, program)) == std::vector<std::vector<std::string>>{{"Relu"}, {"Reshape", "Exp"}});
  // Where the run does compute the constants, the step that computes them stands for their nodes.
  program.steps = {step_of("a", 0, 1), step_of("shape", 1, 2)};
  CHECK(names(find_origins(model, program)) == std::vector<std::vector<std::string>>{{"Relu"}, {"Shape", "Gather", "Concat"}});
}

TEST_CASE("of equal nodes the step that computes one stands for all, and its readers for none") {
  Graph model;
  const ValueId x = model.add_value("x");
  model.inputs = {x};
  ValueId left = x, right = x;
  for (const std::string i : {"0", "1", "2"}) {
    left = add(model, "Sin", {left}, "l" + i);
    right = add(model, "Sin", {right}, "r" + i);
  }
  model.outputs = {add(model, "Exp", {left}, "y"), add(model, "Cos", {right}, "z")};
  Program program;
  program.buffers.resize(4);
  program.steps = {step_of("l2", 0, 1), step_of("y", 1, 2), step_of("z", 1, 3)};
  CHECK(names(find_origins(model, program)) == std::vector<std::vector<std::string>>{std::vector<std::string>(6, "Sin"), {"Exp"}, {"Cos"}});
}
