// Sequences of graphs as passes leave them, with a faulty pass among them.
#include "tools/verify/pass_watch.h"

#include <catch2/catch.hpp>

#include "compiler/onnxc.h"

namespace onnxc {
namespace {

using Kind = PassWatch::Finding::Kind;

constexpr const char* kModel = R"(graph "g" (x: f32[2, 3]) -> (y) {
  const w: f32[3, 2] = [1, 2, 3, 4, 5, 6]
  const b: f32[2] = [0.5, -0.5]
  p: f32[2, 2] = MatMul(x, w)
  s: f32[2, 2] = Add(p, b)
  y: f32[2, 2] = Relu(s)
}
)";

HostValue values(std::vector<float> numbers, std::vector<int64_t> shape) {
  TensorData tensor = TensorData::zeros(ElementType::F32, std::move(shape));
  std::memcpy(tensor.bytes.data(), numbers.data(), tensor.bytes.size());
  return HostValue::of(std::move(tensor));
}

Trial trial_of(const Graph& model, std::string name, const HostValue& x) {
  Trial trial{std::move(name), {{1e-3, 1e-5}, Content::Ordinary, ""}, {&x}};
  trial.expected = ask_evaluator(model, trial.inputs, SubnormalMode::Keep);
  return trial;
}

/// A pass that is wrong where values are negative: it forgets the Relu.
Graph forget_relu(Graph graph) {
  for (Node& node : graph.nodes) {
    if (node.is("Relu")) node.op = "Identity";
  }
  return graph;
}

TEST_CASE("the first pass whose graph departs is named", "[verify]") {
  const Graph model = parse_graph(kModel);
  const HostValue positive = values({1, 2, 3, 4, 5, 6}, {2, 3}), negative = values({-1, -2, -3, 4, 5, 6}, {2, 3});
  const std::vector<Trial> trials{trial_of(model, "positive", positive), trial_of(model, "negative", negative)};
  REQUIRE(trials[0].expected.kind == Answer::Kind::Values);
  PassWatch watch(trials, SubnormalMode::Keep);
  watch.see("import", model);
  CHECK(watch.see("nothing", model).kind == Kind::Unchanged);
  const Graph lowered = run_pass("lower_elementwise", run_pass("infer_shapes", clone(model)));
  const PassWatch::Finding right = watch.see("lower_elementwise", lowered);
  CHECK(right.kind == Kind::Right);
  CHECK(right.judged == 2);
  CHECK(watch.see("fuse_expressions", run_pass("fuse_expressions", clone(lowered))).kind == Kind::Right);
  CHECK(watch.guilty() == nullptr);
  watch.see("forget_relu", forget_relu(clone(model)));
  watch.see("later", model);
  REQUIRE(watch.guilty() != nullptr);
  CHECK(watch.guilty()->pass == "forget_relu");
  CHECK(watch.guilty()->text == "negative: 'y': 2 of 4 elements differ, the largest error is 28.5; [0, 0] is -21.5, expected 0");
}

TEST_CASE("a pass that changes a constant is found, and what was not evaluated is told", "[verify]") {
  const Graph model = parse_graph(kModel);
  const HostValue x = values({1, 2, 3, 4, 5, 6}, {2, 3});
  const std::vector<Trial> trials{trial_of(model, "x", x)};
  PassWatch watch(trials, SubnormalMode::Keep);
  watch.see("import", model);
  Graph changed = clone(model);
  for (Value& value : changed.values) {
    if (value.name == "b") value.constant = std::make_shared<TensorData>(values({0.5f, -0.25f}, {2}).tensor);
  }
  CHECK_FALSE(same_graph(model, changed));
  CHECK(watch.see("change", changed).kind == Kind::Wrong);

  PassWatch blind(trials, SubnormalMode::Keep);
  blind.see("import", model);
  Graph random = clone(model);
  random.nodes.back().op = "RandomNormalLike";
  const PassWatch::Finding finding = blind.see("random", random);
  CHECK(finding.kind == Kind::Unjudged);
  CHECK(finding.judged == 0);
  CHECK(finding.text.find("has no reference value") != std::string::npos);
}

}  // namespace
}  // namespace onnxc
