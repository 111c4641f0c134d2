// Norms that an exporter wrote in their parts become one kernel, and what only looks like one does not.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "compiler/lowering/lower_graph.h"
#include "compiler/lowering/memory/plan_memory.h"
#include "targets/target.h"
#include "tests/text_cases.h"

namespace onnxc {
namespace {

using Names = std::vector<std::string>;

Names kernels(const std::string& outputs, const std::string& nodes) {
  const Graph graph =
      run_passes("infer_shapes,decompose,fold_constants,simplify,lower_elementwise,fold_parameters,fuse_expressions,eliminate_dead_code",
                 parse_graph("graph \"norm\" (x: f32[b, n, 96]) -> (" + outputs + ") {\n" + nodes + "}\n"));
  const LowerOptions options;
  Program program = lower_graph(graph, *find_target("x86-64-v3"), options, nullptr);
  plan_program(program, options, true);
  check_plan(program);
  Names names;
  for_each_call(program.steps, [&](const Call& call, int) { names.push_back(call.kernel); });
  return names;
}

const std::string kConstants =
    "  const last: i64[1] = [-1]\n  const e: f32[] = [1.0e-5]\n  const two: f32[] = [2.0]\n  const one: f32[] = [1.0]\n";
const std::string kDifference = "  m: ? = ReduceMean(x, last)\n  d: ? = Sub(x, m)\n";
const std::string kLayer =
    kConstants + kDifference + "  q: ? = Pow(d, two)\n  v: ? = ReduceMean(q, last)\n  a: ? = Add(v, e)\n  s: ? = Sqrt(a)\n";
const std::string kRootMeanSquare = kConstants + "  q: ? = Mul(x, x)\n  v: ? = ReduceMean(q, last)\n  a: ? = Add(v, e)\n  s: ? = Sqrt(a)\n";

TEST_CASE("norms in their parts are one kernel") {
  CHECK(kernels("y", kLayer + "  y: ? = Div(d, s)\n") == Names{"layer_norm"});
  CHECK(kernels("y", kLayer + "  i: ? = Reciprocal(s)\n  y: ? = Mul(d, i)\n") == Names{"layer_norm"});
  CHECK(kernels("y", kRootMeanSquare + "  y: ? = Div(x, s)\n") == Names{"rms_norm"});
  CHECK(kernels("y", kRootMeanSquare + "  const power: f32[] = [-0.5]\n  i: ? = Pow(a, power)\n  y: ? = Mul(x, i)\n") == Names{"rms_norm"});
  CHECK(kernels("y", kRootMeanSquare + "  i: ? = Div(one, s)\n  y: ? = Mul(x, i)\n") == Names{"rms_norm"});
}

TEST_CASE("norms whose parts others read, or over other axes, stay as they are") {
  const auto has_norm = [](const Names& names) {
    return std::ranges::any_of(names, [](const std::string& name) { return name == "layer_norm" || name == "rms_norm"; });
  };
  CHECK(!has_norm(kernels("y, s", kLayer + "  y: ? = Div(d, s)\n")));
  CHECK(!has_norm(kernels("y", kLayer + "  y: ? = Div(s, d)\n")));
  std::string middle = kLayer;
  middle.replace(middle.find("[-1]"), 4, "[-2]");
  CHECK(!has_norm(kernels("y", middle + "  y: ? = Div(d, s)\n")));
  std::string cubes = kLayer;
  cubes.replace(cubes.find("[2.0]"), 5, "[3.0]");
  CHECK(!has_norm(kernels("y", cubes + "  y: ? = Div(d, s)\n")));
}

}  // namespace
}  // namespace onnxc
