// Gemm: alpha * A' B' + beta * C. It becomes MatMul and elementwise operators, so that weights are transposed and
// scaled at compile time, and C becomes the product's epilogue.
#include <fmt/format.h>

#include "compiler/ops/operator.h"

namespace onnxc {
namespace {

/// Before opset 7, C was only broadcast with broadcast=1. Where shapes satisfy numpy's rule, the result is the same.
void resolve_gemm(GraphBuilder&, Node& node) { node.attributes.erase("broadcast"); }

void infer_gemm(Inference& n) {
  if (n.rank(0) != 2 || n.rank(1) != 2) n.fail(fmt::format("A and B have ranks {} and {}; matrices are needed", n.rank(0), n.rank(1)));
  const bool a = n.node().integer("transA", 0) != 0, b = n.node().integer("transB", 0) != 0;
  n.unify(n.extents(0)[a ? 0 : 1], n.extents(1)[b ? 1 : 0], "the inner extents");
  const Dim rows = n.extents(0)[a ? 1 : 0], columns = n.extents(1)[b ? 0 : 1];
  Extents out{rows, columns};
  if (n.has(2)) {
    const Extents& c = n.extents(2);
    if (c.size() > 2) n.fail(fmt::format("C has rank {}", c.size()));
    out = n.spread(c, out, "C");
  }
  n.output(0, n.element(0), std::move(out));
}

std::optional<std::vector<ValueId>> decompose_gemm(GraphBuilder& b, const Node& node) {
  ValueId left = node.input(0), right = node.input(1);
  const ElementType type = b.type(left).element;
  if (node.integer("transA", 0) != 0) left = b.op("Transpose", {left}, {{"perm", std::vector<int64_t>{1, 0}}});
  if (node.integer("transB", 0) != 0) right = b.op("Transpose", {right}, {{"perm", std::vector<int64_t>{1, 0}}});
  ValueId product = b.op("MatMul", {left, right});
  const auto scaled = [&](ValueId v, const char* factor) {
    const float f = node.number(factor, 1.0f);
    return f == 1.0f ? v : b.op("Mul", {v, b.number(type, static_cast<double>(f))});
  };
  product = scaled(product, "alpha");
  if (node.has_input(2) && node.number("beta", 1.0f) != 0.0f) product = b.op("Add", {product, scaled(node.input(2), "beta")});
  return std::vector{product};
}

}  // namespace

extern const Operator op_Gemm;
const Operator op_Gemm{.name = "Gemm",
                       .min_inputs = 2,
                       .max_inputs = 3,
                       .max_outputs = 1,
                       .resolve = resolve_gemm,
                       .infer = infer_gemm,
                       .decompose = decompose_gemm};

}  // namespace onnxc
