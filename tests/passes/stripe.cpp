// Images computed in stripes: the values are the same, and less memory is live at once.
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>
#include <span>

#include "compiler/ops/evaluate.h"
#include "compiler/passes/order_problem.h"
#include "compiler/passes/passes.h"
#include "tests/passes/random_inputs.h"

namespace onnxc {
namespace {

std::size_t count(const Graph& graph, std::string_view op) {
  return static_cast<std::size_t>(std::ranges::count_if(graph.nodes, [&](const Node& node) { return node.is(op); }));
}

/// Replaces the inputs other than x with random constants.
Graph with_weights(const std::string& text) {
  Graph graph = parse_graph(text);
  std::mt19937 random(3);
  for (ValueId v : graph.inputs) {
    if (graph[v].name != "x") graph[v].constant = random_tensor(graph[v].type, random);
  }
  std::erase_if(graph.inputs, [&](ValueId v) { return graph[v].constant != nullptr; });
  return graph;
}

/// The most bytes that are live at once, in the order of the nodes.
int64_t peak(const Graph& graph) {
  std::vector<int> order(graph.nodes.size());
  std::iota(order.begin(), order.end(), 0);
  return peak_bytes(order_problem(graph), order);
}

/// The graph in stripes where that helps. Checks that it gives the same values, and what is live at once.
Graph striped(const std::string& text, int64_t peak_before, int64_t peak_after, double most_extra = 1e4) {
  const Graph before = with_weights(text);
  std::vector<Graph> forms = stripe(before, std::span(&most_extra, 1));
  Graph after = forms.empty() ? clone(before) : std::move(forms[0]);
  verify_graph(after, "stripe");
  const auto inputs = random_inputs(before);
  check_same(evaluate_graph(before, inputs), evaluate_graph(after, inputs));
  CHECK(peak(before) == peak_before);
  CHECK(peak(after) <= peak_after);  // what stripes can reach: more would be a worse choice
  return after;
}

TEST_CASE("windows with strides, dilations and padding see the same rows by stripes", "[passes]") {
  const Graph after =
      striped(R"(graph "g" (x: f32[1, 2, 33, 20], w1: f32[8, 2, 3, 3], w2: f32[8, 1, 5, 5], w3: f32[3, 8, 3, 3], b: f32[8]) -> (z) {
    a: f32[1, 8, 33, 20] = Conv(x, w1, b) {pads = [1, 1, 1, 1]}
    c: f32[1, 8, 17, 10] = Conv(a, w2) {group = 8, pads = [2, 2, 2, 2], strides = [2, 2]}
    d: f32[1, 3, 17, 10] = Conv(c, w3) {dilations = [2, 2], pads = [2, 2, 2, 2]}
    p: f32[1, 3, 9, 6] = MaxPool(d) {ceil_mode = 1, kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2]}
    q: f32[1, 3, 9, 6] = AveragePool(p) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]}
    z: f32[3, 1, 9, 6] = Transpose(q) {perm = [1, 0, 2, 3]}
  })",
              26560, 10880);
  CHECK(count(after, "Conv") > 3);
  CHECK(count(after, "Concat") == 1);
}

TEST_CASE("auto_pad and a pool whose last window hangs over", "[passes]") {
  const Graph after = striped(R"(graph "g" (x: f32[1, 1, 31, 8], w1: f32[8, 1, 3, 3], w2: f32[1, 8, 1, 1]) -> (z) {
    a: f32[1, 8, 16, 4] = Conv(x, w1) {auto_pad = "SAME_LOWER", strides = [2, 2]}
    p: f32[1, 8, 8, 2] = MaxPool(a) {ceil_mode = 1, kernel_shape = [3, 3], strides = [2, 2]}
    q: f32[1, 8, 8, 2] = AveragePool(p) {ceil_mode = 1, kernel_shape = [2, 2], auto_pad = "SAME_UPPER"}
    z: f32[1, 1, 8, 2] = Conv(q, w2)
  })",
                              2560, 1408);
  CHECK(count(after, "MaxPool") > 1);
}

TEST_CASE("values with several readers are cut from a stripe, and results inside of it are joined too", "[passes]") {
  const Graph after = striped(
      R"(graph "g" (x: f32[1, 1, 32, 16], w1: f32[16, 1, 3, 3], w2: f32[16, 16, 3, 3], w3: f32[2, 32, 1, 1], s: f32[16, 1, 1]) -> (z, t) {
    a: f32[1, 16, 32, 16] = Conv(x, w1) {pads = [1, 1, 1, 1]}
    b: f32[1, 16, 32, 16] = Conv(a, w2) [mul(add(x0, x1), x2)](a, s) {pads = [1, 1, 1, 1]}
    c: f32[1, 32, 32, 16] = Concat(a, b) {axis = 1}
    y: f32[1, 2, 32, 16] = Conv(c, w3)
    z: f32[1, 2, 32, 16] = onnxc.Map(y) [relu(x0)]
    t: f32[2, 1, 32, 16] = Transpose(y) {perm = [1, 0, 2, 3]}
  })",
      131072, 12032);
  CHECK(count(after, "Slice") > 0);
}

TEST_CASE("samples of a signal and planes of a volume are rows", "[passes]") {
  const Graph signal = striped(R"(graph "g" (x: f32[1, 1, 64], w1: f32[16, 1, 3], w2: f32[4, 16, 3], s: f32[16, 1]) -> (z) {
    a: f32[1, 16, 64] = Conv(x, w1) {pads = [2, 0]}
    b: f32[1, 16, 64] = onnxc.Map(a, s) [mul(x0, x1)]
    z: f32[1, 4, 32] = Conv(b, w2) {dilations = [2], pads = [4, 0], strides = [2]}
  })",
                               4096, 964);
  CHECK(count(signal, "Concat") == 1);
  const Graph volume = striped(R"(graph "g" (x: f32[1, 1, 20, 6, 5], w1: f32[8, 1, 3, 3, 3], w2: f32[1, 8, 1, 1, 1]) -> (z) {
    a: f32[1, 8, 20, 6, 5] = Conv(x, w1) {pads = [1, 1, 1, 1, 1, 1]}
    b: f32[1, 8, 10, 3, 3] = MaxPool(a) {ceil_mode = 1, kernel_shape = [2, 2, 2], strides = [2, 2, 2]}
    z: f32[1, 1, 10, 3, 3] = Conv(b, w2)
  })",
                               22080, 6876);
  CHECK(count(volume, "Concat") == 1);
}

}  // namespace
}  // namespace onnxc
