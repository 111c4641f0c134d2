// com.microsoft: activations after a bias, and other small compositions of elementwise operators.
#include "compiler/ops/contrib/composition.h"

namespace onnxc {
namespace {

/// 0.5 x (1 + erf(x / sqrt 2)), or its tanh approximation.
ValueId gelu(Composition& c, ValueId x, bool approximate = false) {
  return c.op("Gelu", {x}, {{"approximate", std::string(approximate ? "tanh" : "none")}});
}

Results bias_gelu(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  return {{c.out(gelu(c, c.add(c.in(0), c.in(1))))}};
}
Results fast_gelu(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  return {{c.out(gelu(c, c.has(1) ? c.add(c.in(0), c.in(1)) : c.in(0), true))}};
}
Results quick_gelu(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  const ValueId x = c.in(0);
  return {{c.out(c.mul(x, c.op("Sigmoid", {c.mul(c.constant(c.number("alpha", 1.702f)), x)})))}};
}
/// Rounds to the node's type, where the operator is documented to round in between.
ValueId rounded(Composition& c, ValueId x) { return cast_to(c.b, c.out(x), c.type); }

Results scaled_silu(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  const ValueId scale = c.has(1) ? cast_to(b, c.in(1), c.type) : c.constant(c.number("alpha", 1));
  const ValueId z = rounded(c, c.mul(scale, c.in(0)));
  return {{c.out(c.mul(z, rounded(c, c.op("Sigmoid", {z}))))}};
}
Results gated_add(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  return {{c.out(c.add(c.in(0), rounded(c, c.mul(c.in(1), c.in(2)))))}};
}
Results bias_add(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  return {{c.out(c.add(c.add(c.in(0), c.in(1)), c.in(2)))}};
}
/// The left half of the last axis times the Gelu of the right one.
Results bias_split_gelu(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  const ValueId x = c.add(c.in(0), c.in(1));
  const int64_t half = c.known_extent(x, -1) / 2;
  const std::vector<ValueId> halves = c.split(x, {half, half}, -1);
  return {{c.out(c.mul(halves[0], gelu(c, halves[1])))}};
}

/// Softmax over all axes from `axis` on, taken together.
Results bias_softmax(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  const ValueId x = c.add(c.in(0), c.in(1));
  const int64_t rank = c.rank(x), given = c.integer("axis", 1), axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis >= rank) c.fail(fmt::format("axis {} is out of range for rank {}", given, rank));
  if (axis == rank - 1) return {{c.out(c.op("Softmax", {x}, {{"axis", axis}}))}};
  const ValueId rows = c.op("Softmax", {c.op("Flatten", {x}, {{"axis", axis}})}, {{"axis", int64_t{1}}});
  return {{c.out(c.reshape(rows, c.extents(x)))}};
}

/// Complex numbers are pairs along the last axis.
Results complex_mul(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  for (int i = 0; i < 2; ++i) {
    if (c.rank(c.raw(i)) < 1 || !(c.extent(c.raw(i), -1) == Dim(2)))
      c.unsupported(fmt::format("input {} has shape {}; a last axis of 2, real and imaginary, is needed", i, text(c.extents(c.raw(i)))));
  }
  const auto p = c.split(c.in(0), {1, 1}, -1), q = c.split(c.in(1), {1, 1}, -1);
  const bool conjugate = node.op == "ComplexMulConj";
  const ValueId rr = c.mul(p[0], q[0]), ii = c.mul(p[1], q[1]), ri = c.mul(p[0], q[1]), ir = c.mul(p[1], q[0]);
  return {{c.out(c.concat(conjugate ? std::vector{c.add(rr, ii), c.sub(ir, ri)} : std::vector{c.sub(rr, ii), c.add(ir, ri)}, -1))}};
}

}  // namespace

std::span<const Operator> table_contrib_activations() {
  const auto row = [](std::string_view name, int least, int most, Results (*decompose)(GraphBuilder&, const Node&)) {
    return Operator{.name = name, .domain = kMicrosoft, .min_inputs = least, .max_inputs = most, .max_outputs = 1, .decompose = decompose};
  };
  static const Operator rows[] = {
      row("BiasGelu", 2, 2, bias_gelu),       row("FastGelu", 1, 2, fast_gelu),     row("QuickGelu", 1, 1, quick_gelu),
      row("ScaledSiLU", 1, 2, scaled_silu),   row("BiasAdd", 3, 3, bias_add),       row("BiasSplitGelu", 2, 2, bias_split_gelu),
      row("BiasSoftmax", 2, 2, bias_softmax), row("ComplexMul", 2, 2, complex_mul), row("ComplexMulConj", 2, 2, complex_mul),
      row("GatedAdd", 3, 3, gated_add),
  };
  return rows;
}

}  // namespace onnxc
