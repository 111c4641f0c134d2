// MatMul as other files see it: its shape rule, for operators that multiply as it does, and what its kernels need to
// know.
#pragma once
#include "compiler/ops/kernel_query.h"
#include "runtime_stub/onnxc/scalar/matmul.hpp"

namespace onnxc {

/// The extents of the product of inputs a and b, as in numpy. Throws if the inner ones do not match.
Extents matmul_extents(Inference& n, int a, int b);

/// A product of matrices, or of stacks of them. Vectors count as matrices meanwhile.
struct MatrixProduct {
  Extents a, b;   ///< of the operands, at least two each
  Extents batch;  ///< the axes of the result that number its matrices
  Dim m, n, k;    ///< each product is [m, k] by [k, n]
  bool a_vector = false, b_vector = false;
};

/// The product of operands with extents `a` and `b`, which match; its result has extents `y`.
MatrixProduct matrix_product(const Extents& a, const Extents& b, const Extents& y);

/// Strides of an operand's matrices along the batch axes of the result.
DimList batch_strides(const Extents& operand, const Extents& batch);

/// The parameters of a kernel that multiplies stacks of matrices which lie one behind the other: MatMulParams, QuadMatMulParams.
NamedArgs stacked_matmul_args(const MatrixProduct& p);

/// Whether the node has a kernel besides the reference one, which applies epilogues.
bool has_fast_matmul(const Graph& graph, const Node& node);

/// The parameters of scalar::matmul for operands of known shapes, and as arguments.
scalar::MatMulParams scalar_matmul_params(const Evaluation& e, const Extents& y);
NamedArgs scalar_matmul_args(const MatrixProduct& p);

}  // namespace onnxc
