// Algorithms that mix values which the operator keeps apart are taken where they are fast, and nowhere else.
#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "compiler/lowering/lower_graph.h"
#include "targets/target.h"
#include "tests/passes/random_inputs.h"
#include "tests/text_cases.h"

namespace onnxc {
namespace {

/// Whether a step of y's convolution mixes values. `reader` is a node that reads y.
bool mixes(const LowerOptions& options, const std::string& reader = "z: ? = Relu(y)") {
  Graph graph =
      parse_graph("graph \"g\" (x: f32[1, 64, 56, 56], w: f32[64, 64, 3, 3]) -> (z) {\n  y: ? = Conv(x, w) {pads = [1, 1, 1, 1]}\n  " +
                  reader + "\n}\n");
  std::mt19937 random(1);
  const ValueId w = graph.inputs.back();
  graph[w].constant = random_tensor(graph[w].type, random);
  graph.inputs.pop_back();
  graph = run_passes("infer_shapes,lower_elementwise,fuse_expressions,mark_direct,eliminate_dead_code", std::move(graph));
  const Program program = lower_graph(graph, *find_target("x86-64-v3"), options, nullptr);
  bool found = false;
  for_each_call(program.steps, [&](const Call& call, int) { found = found || call.kernel.starts_with("winograd"); });
  return found;
}

TEST_CASE("values are mixed by default alone, and where no reader magnifies errors") {
  CHECK(mixes({}));
  CHECK_FALSE(mixes({.math = Math::Strict}));
  CHECK_FALSE(mixes({.math = Math::Reproducible}));
  CHECK_FALSE(mixes({.small = true}));
  CHECK_FALSE(mixes({}, "z: ? = Sign(y)"));
}

}  // namespace
}  // namespace onnxc
