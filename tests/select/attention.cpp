// Attention as exporters write it becomes one kernel of a processor, and what only looks like it does not.
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

Names kernels(const std::string& inputs, const std::string& outputs, const std::string& nodes, const char* target = "x86-64-v3") {
  const Graph graph = run_passes("infer_shapes,lower_elementwise,fuse_expressions,eliminate_dead_code",
                                 parse_graph("graph \"attention\" (" + inputs + ") -> (" + outputs + ") {\n" + nodes + "}\n"));
  const LowerOptions options;
  Program program = lower_graph(graph, *find_target(target), options, nullptr);
  plan_program(program, options, true);
  check_plan(program);
  Names names;
  for_each_call(program.steps, [&](const Call& call, int) { names.push_back(call.kernel); });
  return names;
}

const Names kOne{"attention"};
const std::string kProduct = "  s: ? = MatMul(q, k)\n", kRest = "  p: ? = Softmax(m) {axis = -1}\n  y: ? = MatMul(p, v)\n";
const std::string kStack = "q: f32[2, 4, n, 32], k: f32[2, 4, 32, t], v: f32[2, 4, t, 32]";
/// q, k and v of heads that lie beside each other, of `x` and `z`, and the result as it goes on.
std::string heads(const std::string& rules) {
  return "  const parts: i64[4] = [0, 0, 4, 32]\n  a: ? = Reshape(x, parts)\n  b: ? = Reshape(z, parts)\n"
         "  q: ? = Transpose(a) {perm = [0, 2, 1, 3]}\n  k: ? = Transpose(b) {perm = [0, 2, 3, 1]}\n  v: ? = Transpose(b) {perm = [0, 2, "
         "1, 3]}\n" +
         rules + "  p: ? = Softmax(m) {axis = -1}\n  o: ? = MatMul(p, v)\n  y: ? = Transpose(o) {perm = [0, 2, 1, 3]}\n";
}

TEST_CASE("scores of attention have any scale and mask") {
  const std::string eight = "  const eight: f32[] = [8.0]\n";
  CHECK(kernels(kStack, "y", "  m: ? = MatMul(q, k)\n" + kRest) == kOne);
  CHECK(kernels(kStack, "y", eight + kProduct + "  m: ? = Div(s, eight)\n" + kRest) == kOne);
  CHECK(kernels(kStack, "y", eight + "  h: ? = Div(q, eight)\n  m: ? = MatMul(h, k)\n" + kRest) == kOne);
  const std::string scaled = eight + kProduct + "  d: ? = Div(s, eight)\n";
  for (const std::string mask : {"f32[2, 1, 1, t]", "f32[n, t]", "f32[2, 4, n, t]", "f32[1, 4, 1, t]", "f32[4, n, 1]", "f32[]"}) {
    INFO(mask);
    CHECK(kernels(kStack + ", w: " + mask, "y", scaled + "  m: ? = Add(d, w)\n" + kRest) == kOne);
  }
  const std::string lowest = "  const lowest: f32[] = [-3.0e38]\n";
  CHECK(kernels(kStack + ", c: bool[n, t]", "y", scaled + lowest + "  m: ? = Where(c, d, lowest)\n" + kRest) == kOne);
  CHECK(kernels(kStack + ", c: bool[2, 1, n, t], w: f32[4, 1, t]", "y",
                scaled + lowest + "  e: ? = Add(d, w)\n  m: ? = Where(c, lowest, e)\n" + kRest) == kOne);
  CHECK(kernels(kStack, "y", scaled + "  h: ? = Tanh(d)\n  m: ? = Mul(h, eight)\n" + kRest) == kOne);
}

TEST_CASE("probabilities of attention may be cleared") {
  const std::string rest = "  p: ? = Softmax(s) {axis = -1}\n  const zero: f32[] = [0.0]\n", last = "  y: ? = MatMul(z, v)\n";
  CHECK(kernels(kStack, "y", kProduct + rest + "  e: ? = IsNaN(p)\n  z: ? = Where(e, zero, p)\n" + last) == kOne);
  CHECK(kernels(kStack + ", c: bool[2, 1, n, 1]", "y", kProduct + rest + "  z: ? = Where(c, zero, p)\n" + last) == kOne);
  CHECK(kernels(kStack + ", c: bool[2, 1, n, t]", "y", kProduct + rest + "  z: ? = Where(c, zero, p)\n" + last) != kOne);
}

TEST_CASE("heads of attention are read and written where they lie") {
  const std::string inputs = "x: f32[b, n, 128], z: f32[b, t, 128]";
  CHECK(kernels(inputs, "y", heads("  m: ? = MatMul(q, k)\n")) == kOne);
  CHECK(kernels("x: f32[b, n, 128]", "y", "  z: ? = Identity(x)\n" + heads("  m: ? = MatMul(q, k)\n")) == kOne);
  CHECK(kernels(inputs + ", w: f32[b, 1, n, t]", "y", heads("  s: ? = MatMul(q, k)\n  m: ? = Add(s, w)\n"), "zen4") == kOne);
  // Joined q, k and v: as three parts, or as an axis of three.
  CHECK(kernels("x: f32[b, n, 384]", "y",
                "  const three: i64[3] = [128, 128, 128]\n  const parts: i64[4] = [0, 0, 4, 32]\n  a: ?, c: ?, d: ? = Split(x, three) "
                "{axis = -1}\n"
                "  e: ? = Reshape(a, parts)\n  f: ? = Reshape(c, parts)\n  g: ? = Reshape(d, parts)\n  q: ? = Transpose(e) {perm = [0, 2, "
                "1, 3]}\n"
                "  k: ? = Transpose(f) {perm = [0, 2, 3, 1]}\n  v: ? = Transpose(g) {perm = [0, 2, 1, 3]}\n  m: ? = MatMul(q, k)\n" +
                    kRest) == kOne);
  CHECK(
      kernels(
          "x: f32[b, n, 384]", "y",
          "  const parts: i64[5] = [0, 0, 3, 4, 32]\n  const first: i64[] = [0]\n  const second: i64[] = [1]\n  const third: i64[] = [2]\n"
          "  a: ? = Reshape(x, parts)\n  c: ? = Transpose(a) {perm = [2, 0, 3, 1, 4]}\n  q: ? = Gather(c, first) {axis = 0}\n  d: ? = "
          "Gather(c, second) {axis = 0}\n"
          "  v: ? = Gather(c, third) {axis = 0}\n  k: ? = Transpose(d) {perm = [0, 1, 3, 2]}\n  m: ? = MatMul(q, k)\n" +
              kRest) == kOne);
}

TEST_CASE("heads of attention may share keys and values") {
  const std::string inputs = "q: f32[2, 6, n, 16], k: f32[2, 2, 20, 16], v: f32[2, 2, 20, 16]";
  const std::string repeat =
      "  const joined: i64[4] = [2, 6, 20, 16]\n  const ahead: i64[1] = [2]\n  const e: i64[5] = [2, 2, 3, 20, 16]\n"
      "  ku: ? = Unsqueeze(k, ahead)\n  ke: ? = Expand(ku, e)\n  kr: ? = Reshape(ke, joined)\n  kt: ? = Transpose(kr) {perm = [0, 1, 3, "
      "2]}\n"
      "  vu: ? = Unsqueeze(v, ahead)\n  ve: ? = Expand(vu, e)\n  vr: ? = Reshape(ve, joined)\n";
  CHECK(kernels(inputs, "y", repeat + "  m: ? = MatMul(q, kt)\n  p: ? = Softmax(m) {axis = -1}\n  y: ? = MatMul(p, vr)\n") == kOne);
}

TEST_CASE("what others read, or has another axis, is no attention") {
  const auto has_attention = [](const Names& names) { return std::ranges::find(names, "attention") != names.end(); };
  CHECK(!has_attention(kernels(kStack, "y, p", "  m: ? = MatMul(q, k)\n" + kRest)));
  CHECK(!has_attention(kernels(kStack, "y, m", "  m: ? = MatMul(q, k)\n" + kRest)));
  CHECK(!has_attention(kernels(kStack, "y", "  m: ? = MatMul(q, k)\n  p: ? = Softmax(m) {axis = -2}\n  y: ? = MatMul(p, v)\n")));
  CHECK(!has_attention(kernels(kStack, "y", "  m: ? = MatMul(q, k)\n" + kRest, "cortex-m4")));
  // Weights are packed once.
  const std::string weights = "  const w: f32[2, 2] = [1.0, 2.0, 3.0, 4.0]\n";
  CHECK(!has_attention(kernels("q: f32[n, 2], v: f32[2, 5]", "y", weights + "  m: ? = MatMul(q, w)\n" + kRest)));
  CHECK(!has_attention(kernels("q: f32[n, 5], k: f32[5, 2]", "y",
                               weights + "  m: ? = MatMul(q, k)\n  p: ? = Softmax(m) {axis = -1}\n  y: ? = MatMul(p, w)\n")));
}

}  // namespace
}  // namespace onnxc
