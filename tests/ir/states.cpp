// Pairs of an input and an output that a caller keeps from run to run: their text, how passes keep them, their
// contract.
#include <catch2/catch.hpp>
#include <string>

#include "compiler/ir/graph.h"
#include "compiler/onnxc.h"
#include "compiler/support/error.h"

using namespace onnxc;

namespace {

Graph step(const std::string& states, const std::string& present = "f32[4]") {
  return parse_graph("graph \"step\" (x: f32[4], past: f32[4], count: i64[1]) -> (y, present) states (" + states +
                     ") {\n  y: f32[4] = Neg(x)\n  present: " + present + " = Add(past, x)\n}\n");
}

}  // namespace

TEST_CASE("states are written and read by name, and passes keep them") {
  const Graph graph = step("past -> present");
  REQUIRE(graph.states == std::vector<State>{{1, 1}});
  CHECK(print_graph(graph).find("-> (y, present) states (past -> present) {") != std::string::npos);
  CHECK(parse_graph(print_graph(graph)).states == graph.states);
  CHECK(clone(graph).states == graph.states);
  const Graph lowered = run_pass("lower_elementwise", clone(graph));
  CHECK(lowered.states == graph.states);
}

TEST_CASE("a state is an input and an output of one type, in no other state") {
  CHECK_NOTHROW(verify_graph(step("past -> present"), "test"));
  CHECK_THROWS_AS(verify_graph(step("past -> present", "f32[2, 4]"), "test"), Error);
  CHECK_THROWS_AS(verify_graph(step("count -> present"), "test"), Error);
  CHECK_THROWS_AS(verify_graph(step("past -> present, x -> present"), "test"), Error);
  CHECK_THROWS_AS(step("y -> present"), Error);
  Graph graph = step("past -> present");
  graph.states[0].past = 3;
  CHECK_THROWS_AS(verify_graph(graph, "test"), Error);
}
