// Why nodes of quantised networks stay in floats: what recognise_quantised, recognise_weight_only and decompose say of them. Each case is a few lines
// between the quantised input x and the result y, and what is said of y, or of another value. Near misses beside them, of which nothing is said.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "compiler/onnxc.h"

using namespace onnxc;

namespace {

struct Case {
  const char* lines;   ///< computes y from x, which is dequantised from u8[1, 4, 6, 6]
  const char* reason;  ///< empty: nothing is said
  const char* of = "y";
};

/// Weights of convolutions (qw, qd, fw, w) and of a product (qv), scales and zero points.
constexpr const char* kConstants = R"(
  const s: f32[] = [0.5]
  const z: u8[] = [128]
  const qw: i8[4, 4, 1, 1] = [1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12, 13, -14, 15, -16]
  const qd: i8[4, 2, 1, 1] = [1, -2, 3, -4, 5, -6, 7, -8]
  const qv: i8[6, 2] = [1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12]
  const fw: f32[4, 4, 1, 1] = [1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12, 13, -14, 15, -16]
  const s4: f32[4] = [0.5, 0.25, 0.5, 0.25]
  const s6: f32[6] = [0.5, 0.25, 0.5, 0.25, 0.5, 0.25]
  const other: f32[] = [0.25]
  const z16: u16[] = [128]
  const q11: i8[11, 2, 1, 1] = [1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12, 13, -14, 15, -16, 17, -18, 19, -20, 21, -22]
  const begin: i64[1] = [0]
  const end: i64[1] = [2]
  const axis: i64[1] = [1]
  q: u8[1, 4, 6, 6] = QuantizeLinear(image, s, z)
  x: f32[1, 4, 6, 6] = DequantizeLinear(q, s, z)
  w: f32[4, 4, 1, 1] = DequantizeLinear(qw, s)
)";

std::map<std::string, std::string> reasons_of(const Case& c) {
  Graph graph = parse_graph(fmt::format("graph \"g\" (image: f32[1, 4, 6, 6], scale: f32[]) -> (y) {{{}{}\n}}", kConstants, c.lines));
  for (const char* pass : {"infer_shapes", "recognise_quantised", "recognise_weight_only", "decompose"})
    graph = run_pass(pass, std::move(graph));
  return graph.float_reasons;
}

constexpr Case kCases[] = {
    {"y: f32[1, 4, 6, 6] = Conv(x, w)", ""},
    {"y: f32[1, 4, 6, 6] = Conv(image, w)", "its input is not quantised; QuantizeLinear and DequantizeLinear before would do"},
    {"y: f32[1, 4, 6, 6] = Conv(x, fw)", "its weights are not quantised; QuantizeLinear and DequantizeLinear before would do"},
    {"y: f32[1, 4, 6, 6] = Conv(image, fw)", "its operands are not quantised; QuantizeLinear and DequantizeLinear before would do"},
    {"v: f32[4, 4, 1, 1] = DequantizeLinear(qw, scale)\ny: f32[1, 4, 6, 6] = Conv(x, v)",
     "the scale of its weights is known only to a run"},
    {"v: f32[4, 4, 1, 1] = DequantizeLinear(qw, s4) {axis = 0}\ny: f32[1, 4, 6, 6] = Conv(x, v)", ""},
    {"v: f32[4, 4, 1, 1] = DequantizeLinear(qw, s4) {axis = 1}\ny: f32[1, 4, 6, 6] = Conv(x, v)",
     "the scales of its weights do not run along its output channels"},
    {"v: f32[4, 2, 1, 1] = DequantizeLinear(qd, s)\ny: f32[1, 4, 6, 6] = Conv(x, v) {group = 2}", ""},
    {"h: f32[1, 2, 6, 6] = Slice(x, begin, end, axis)\nt: f32[1, 22, 6, 6] = Concat(x, x, x, x, x, h) {axis = 1}\n"
     "v: f32[11, 2, 1, 1] = DequantizeLinear(q11, s)\ny: f32[1, 11, 6, 6] = Conv(t, v) {group = 11}",
     "its groups read 2 channels and give 1; one of each, or a multiple of 4 that they read, would do"},
    {"p: u16[1, 4, 6, 6] = QuantizeLinear(image, s, z16)\nr: f32[1, 4, 6, 6] = DequantizeLinear(p, s, z16)\ny: f32[1, 4, 6, 6] = Conv(r, "
     "w)",
     "it has u16 activations; u8 or i8 would do"},
    {"p: u8[1, 4, 6, 6] = QuantizeLinear(image, s4)\nr: f32[1, 4, 6, 6] = DequantizeLinear(p, s4)\ny: f32[1, 4, 6, 6] = Conv(r, w)",
     "its input has a scale for each channel; one for all would do"},
    {"y: u8[1, 4, 6, 6] = QuantizeLinear(x, scale)", "its scale is known only to a run"},
    {"v: f32[6, 2] = DequantizeLinear(qv, s)\ny: f32[1, 4, 6, 2] = MatMul(x, v)", ""},
    {"v: f32[6, 2] = DequantizeLinear(qv, s6) {axis = 0}\ny: f32[1, 4, 6, 2] = MatMul(x, v)",
     "the scales of its weights do not run along its output channels"},
    {"y: f32[1, 4, 6, 6] = MatMul(x, x)", ""},
    {"y: f32[1, 4, 6, 6] = MatMul(x, image)", "its weights are not quantised; QuantizeLinear and DequantizeLinear before would do"},
    // Weights of 8 bits alone: few rows wait for them, many do not.
    {"v: f32[6, 2] = DequantizeLinear(qv, s)\ny: f32[1, 4, 6, 2] = MatMul(image, v)",
     "its input is not quantised, and with 24 rows, more than 16, weights of 8 bits save no time; QuantizeLinear and DequantizeLinear "
     "before it "
     "would do"},
    // Averages.
    {"y: f32[1, 4, 3, 3] = AveragePool(x) {kernel_shape = [2, 2], strides = [2, 2]}", ""},
    {"y: f32[1, 4, 4, 4] = AveragePool(x) {kernel_shape = [2, 2], strides = [2, 2], pads = [1, 1, 1, 1]}", ""},
    {"y: f32[1, 4, 1, 1] = GlobalAveragePool(x)", ""},
    {"r: f32[1, 4, 6, 6] = Add(x, x)\ny: f32[1, 4, 1, 1] = GlobalAveragePool(r)", "its input is not quantised"},
    {"y: f32[1, 4, 1, 1] = GlobalAveragePool(image)", ""},  // as what is before and behind it
    // What has no form on bytes, beside quantised values or behind elementwise operators.
    {"y: f32[1, 4, 6, 6] = Softmax(x)", "Softmax has no form on bytes"},
    {"r: f32[1, 4, 6, 6] = Mul(x, s)\ny: f32[1, 4, 6, 6] = Softmax(r)", "Softmax has no form on bytes"},
    {"r: f32[1, 4, 6, 6] = Softmax(image)\nt: f32[1, 4, 6, 6] = Mul(r, s)\ny: u8[1, 4, 6, 6] = QuantizeLinear(t, s)",
     "Softmax has no form on bytes", "r"},
    {"y: f32[1, 4, 6, 6] = Softmax(image)", ""},
    {"y: f32[1, 4, 6, 6] = Sigmoid(x)", ""},
    // Moves.
    {"y: f32[1, 8, 6, 6] = Concat(x, x) {axis = 1}", ""},
    {"p: u8[1, 4, 6, 6] = QuantizeLinear(image, other, z)\nr: f32[1, 4, 6, 6] = DequantizeLinear(p, other, z)\ny: f32[1, 8, 6, 6] = "
     "Concat(x, r) {axis = 1}",
     "it joins values that have different scales or zero points; one for all would do"},
    // What quantises a Concat quantises its operands.
    {"p: u8[1, 4, 6, 6] = QuantizeLinear(image, other, z)\nr: f32[1, 4, 6, 6] = DequantizeLinear(p, other, z)\n"
     "c: f32[1, 8, 6, 6] = Concat(x, r) {axis = 1}\ny: u8[1, 8, 6, 6] = QuantizeLinear(c, s, z)",
     "", "c"},
    // Operators of integers.
    {"y: i32[1, 4, 6, 6] = ConvInteger(q, qw)", ""},
    {"y: i32[1, 4, 6, 6] = ConvInteger(q, qd) {group = 2}", ""},
    {"y: u8[1, 4, 6, 6] = com.microsoft.QLinearSoftmax(q, s, z, s, z) {axis = -1, opset = 13}", "Softmax has no form on bytes"},
};

}  // namespace

TEST_CASE("why nodes of a quantised network stay in floats", "[passes][quantised]") {
  for (const Case& c : kCases) {
    INFO(c.lines);
    const auto reasons = reasons_of(c);
    const auto found = reasons.find(c.of);
    CHECK((found == reasons.end() ? "" : found->second) == c.reason);
    if (c.reason[0] == 0) CHECK(reasons.empty());
  }
}

TEST_CASE("of a network in floats nothing is said", "[passes][quantised]") {
  Graph graph = parse_graph(R"(graph "g" (x: f32[4, 4], w: f32[4, 4]) -> (y) {
  m: f32[4, 4] = MatMul(x, w)
  y: f32[4, 4] = Softmax(m)
})");
  for (const char* pass : {"infer_shapes", "recognise_quantised", "recognise_weight_only", "decompose"})
    graph = run_pass(pass, std::move(graph));
  CHECK(graph.float_reasons.empty());
}
