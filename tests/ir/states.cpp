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

TEST_CASE("a state that grows does so along its outermost axis") {
  const auto cache = [](const std::string& past, const std::string& x, const std::string& axis) {
    return parse_graph("graph \"cache\" (past: f32[" + past + "], x: f32[" + x +
                       "]) -> (y, present) states (past -> present) {\n  present: ? = Concat(past, x) {axis = " + axis +
                       "}\n  y: ? = Neg(past)\n}\n");
  };
  const auto placed = [&](const std::string& past, const std::string& x, const std::string& axis) {
    return print_graph(run_pass("place_states", run_pass("infer_shapes", cache(past, x, axis))));
  };
  const std::string turned = placed("b, 4, n, 8", "b, 4, t, 8", "2");
  CHECK(turned.find("(past: f32[n, b, 4, 8], x: f32[b, 4, t, 8])") != std::string::npos);
  CHECK(turned.find("present: f32[n + t, b, 4, 8] = Concat(past, ") != std::string::npos);
  // Only extents of 1 are before it, or it is the outermost one.
  CHECK(placed("1, n, 8", "1, t, 8", "1").find("Transpose") == std::string::npos);
  CHECK(placed("n, 8", "t, 8", "-2").find("Transpose") == std::string::npos);
  const Graph grown = run_pass("place_states", run_pass("infer_shapes", cache("b, n", "b, t", "1")));
  CHECK(grows(grown, {0, 1}));
  CHECK(grown.states[0].axis == 1);
}

TEST_CASE("a state that does not grow keeps its shape, which a run checks where it must") {
  const auto placed = [](const std::string& past, const std::string& x) {
    return run_pass("place_states",
                    run_pass("infer_shapes", parse_graph("graph \"kept\" (past: f32[" + past + "], x: f32[" + x +
                                                         "]) -> (present) states (past -> present) {\n  present: ? = Neg(x)\n}\n")));
  };
  CHECK(placed("2, b", "2, b").requirements.empty());
  const Graph other = placed("2, a", "2, b");
  REQUIRE(other.requirements.size() == 1);
  CHECK(other.requirements[0].who == "the state 'present'");
  CHECK(!grows(other, {0, 0}));
  CHECK_THROWS_AS(placed("2, 3", "2, 4"), Error);
  CHECK_THROWS_AS(placed("2, b", "2, b + 1"), Error);
}

TEST_CASE("a state is an input and an output, in no other state") {
  CHECK_NOTHROW(verify_graph(step("past -> present"), "test"));
  CHECK_THROWS_AS(verify_graph(step("past -> present, x -> present"), "test"), Error);
  CHECK_THROWS_AS(step("y -> present"), Error);
  Graph graph = step("past -> present");
  graph.states[0].past = 3;
  CHECK_THROWS_AS(verify_graph(graph, "test"), Error);
}

TEST_CASE("a state of another type or rank after the run is refused") {
  for (const char* change : {"Cast(past) {to = 11}", "Unsqueeze(past, axes)"}) {
    const Graph typed = run_pass(
        "infer_shapes",
        parse_graph("graph \"step\" (past: f32[4]) -> (present) states (past -> present) {\n  const axes: i64[1] = [0]\n  present: ? = " +
                    std::string(change) + "\n}\n"));
    try {
      run_pass("place_states", clone(typed));
      FAIL("it was placed");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::Unsupported);
      CHECK(std::string(error.what()).find("'present' cannot be the state behind 'past'") != std::string::npos);
    }
  }
}
