// Which nodes of the model each step stands for, after passes have fused and taken them apart.
#include "compiler/ir/origins.h"

#include <catch2/catch.hpp>

using namespace onnxc;

namespace {

Step step_of(const std::string& value, BufferId reads, BufferId writes) {
  Step step;
  step.value = value;
  step.args = {PointerArg{writes, true, 0}, PointerArg{reads, false, 0}};
  return step;
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
  const ValueId x = model.add_value("x"), a = model.add_value("a"), b = model.add_value("b"), c = model.add_value("c"), d = model.add_value("d");
  model.inputs = {x};
  model.nodes.push_back(node("Conv", {x}, a));
  model.nodes.push_back(node("Relu", {a}, b));
  model.nodes.push_back(node("LayerNormalization", {b}, c));
  model.nodes.push_back(node("Add", {c, x}, d));
  model.outputs = {d};
  Program program;
  program.buffers.resize(5);
  // Conv took Relu in; LayerNormalization was taken apart into a mean that has no name in the model and the rest, which took Add in.
  program.steps = {step_of("b", 0, 1), step_of("mean_0", 1, 2), step_of("d", 2, 3)};
  CHECK(names(find_origins(model, program)) == std::vector<std::vector<std::string>>{{"Conv", "Relu"}, {"LayerNormalization", "Add"}, {"LayerNormalization", "Add"}});
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
  program.buffers[1].place = Buffer::Place::Output;
  program.steps = {step_of("product", 0, 1)};
  CHECK(names(find_origins(model, program)) == std::vector<std::vector<std::string>>{{"Gemm"}});
}
