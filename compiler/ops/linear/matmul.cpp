// MatMul: the product of two matrices, or of two stacks of them with broadcasting, as in numpy. f32 uses the kernels
// of select/product/candidates.cpp, all other types the reference kernel.
#include "compiler/ops/linear/matmul.h"

#include <fmt/format.h>

#include "compiler/ops/broadcast.h"
#include "compiler/ops/dispatch.h"
#include "compiler/ops/selected.h"
#include "runtime_stub/onnxc/scalar/matmul.hpp"

namespace onnxc {
namespace {

/// The members of a product except its batch.
MatrixProduct product_of(Extents a, Extents b) {
  MatrixProduct p;
  p.a_vector = a.size() == 1;
  p.b_vector = b.size() == 1;
  if (p.a_vector) a.insert(a.begin(), 1);
  if (p.b_vector) b.push_back(1);
  p.m = a[a.size() - 2];
  p.k = a.back();
  p.n = b.back();
  p.a = std::move(a);
  p.b = std::move(b);
  return p;
}

Extents batch_of(const Extents& extents) { return {extents.begin(), extents.end() - 2}; }

}  // namespace

MatrixProduct matrix_product(const Extents& a, const Extents& b, const Extents& y) {
  MatrixProduct p = product_of(a, b);
  p.batch = y;
  p.batch.resize(y.size() - (p.a_vector ? 0 : 1) - (p.b_vector ? 0 : 1));
  return p;
}

Extents matmul_extents(Inference& n, int a, int b) {
  const Extents &of_a = n.extents(a), &of_b = n.extents(b);
  if (of_a.empty() || of_b.empty()) n.fail("an operand is a scalar");
  const MatrixProduct p = product_of(of_a, of_b);
  n.unify(p.k, p.b[p.b.size() - 2], "the inner extents");
  Extents out = n.broadcast({batch_of(p.a), batch_of(p.b)});
  if (!p.a_vector) out.push_back(p.m);
  if (!p.b_vector) out.push_back(p.n);
  return out;
}

DimList batch_strides(const Extents& operand, const Extents& batch) {
  DimList strides(batch.size(), 0);
  Dim stride = operand[operand.size() - 1] * operand[operand.size() - 2];
  const std::size_t own = operand.size() - 2;
  for (std::size_t k = 0; k < own; ++k) {
    const std::size_t axis = own - 1 - k;
    const std::size_t of_result = batch.size() - 1 - k;
    strides[of_result] = stride * repeat_factor(operand[axis], batch[of_result]);
    stride *= operand[axis];
  }
  return strides;
}

NamedArgs stacked_matmul_args(const MatrixProduct& p) {
  DimList c_strides(p.batch.size(), 0);
  Dim stride = p.m * p.n;
  for (std::size_t k = p.batch.size(); k-- > 0;) {
    c_strides[k] = stride;
    stride *= p.batch[k];
  }
  return {{"m", dim_arg(p.m)},
          {"n", dim_arg(p.n)},
          {"k", dim_arg(p.k)},
          {"lda", dim_arg(p.k)},
          {"ldb", dim_arg(p.n)},
          {"ldc", dim_arg(p.n)},
          {"batch", dims_arg(p.batch)},
          {"a_batch", dims_arg(batch_strides(p.a, p.batch))},
          {"b_batch", dims_arg(batch_strides(p.b, p.batch))},
          {"c_batch", dims_arg(c_strides)}};
}

scalar::MatMulParams scalar_matmul_params(const Evaluation& e, const Extents& y) {
  const MatrixProduct p = matrix_product(to_extents(e.input(0).shape), to_extents(e.input(1).shape), y);
  scalar::MatMulParams params{.m = p.m.value(), .n = p.n.value(), .k = p.k.value(), .batch = {}, .a_strides = {}, .b_strides = {}};
  const auto fill = [](auto& list, auto& size, const DimList& dims) {
    for (Dim d : dims) list[size++] = d.value();
  };
  fill(params.batch.dims, params.batch.rank, p.batch);
  fill(params.a_strides.values, params.a_strides.size, batch_strides(p.a, p.batch));
  fill(params.b_strides.values, params.b_strides.size, batch_strides(p.b, p.batch));
  return params;
}

NamedArgs scalar_matmul_args(const MatrixProduct& p) {
  return {{"m", dim_arg(p.m)},
          {"n", dim_arg(p.n)},
          {"k", dim_arg(p.k)},
          {"batch", dims_arg(p.batch)},
          {"a_strides", dims_arg(batch_strides(p.a, p.batch))},
          {"b_strides", dims_arg(batch_strides(p.b, p.batch))}};
}

bool has_fast_matmul(const Graph& graph, const Node& node) {
  const Type& type = graph[node.outputs[0]].type;
  if (type.element != ElementType::F32 || type.rank() == 0) return false;
  // A vector operand changes which axis holds the columns: only a stack of rows times a matrix keeps the last axis.
  return graph[node.inputs[1]].type.rank() >= 2;
}

namespace {

void infer_matmul(Inference& n) {
  Extents out = matmul_extents(n, 0, 1);
  if (n.element(0) != n.element(1)) n.fail(fmt::format("the operands are {} and {}", name(n.element(0)), name(n.element(1))));
  n.output(0, n.element(0), std::move(out));
}

void evaluate_matmul(Evaluation& e) {
  const scalar::MatMulParams params = scalar_matmul_params(e, to_extents(e.output(0).shape));
  for_number(e.type(0), [&]<class T>() { scalar::matmul(e.out<T>().data, e.in<T>(0).data, e.in<T>(1).data, params); });
}

void lower_matmul_reference(KernelQuery& l) {
  const MatrixProduct p = matrix_product(l.extents(0), l.extents(1), l.output_type(0).extents);
  const View a = l.in(0), b = l.in(1), y = l.out(0);
  l.call("scalar_matmul").pointer(y).pointer(a).pointer(b).params(scalar_matmul_args(p)).macs(element_count(y.extents) * p.k).emit();
  l.apply_epilogue(y);
}

void lower_matmul(KernelQuery& l) {
  const bool is_empty = l.extents(0).back() == Dim(0);  // sums of nothing
  if (l.optimise() && has_fast_matmul(l.graph(), l.node()) && !is_empty) return lower_fast_matmul(l);
  lower_matmul_reference(l);
}

}  // namespace

extern const Operator op_MatMul;
const Operator op_MatMul{.name = "MatMul",
                         .min_inputs = 2,
                         .max_inputs = 2,
                         .max_outputs = 1,
                         .infer = infer_matmul,
                         .evaluate = evaluate_matmul,
                         .lower = lower_matmul,
                         .takes_epilogue = has_fast_matmul};

}  // namespace onnxc
