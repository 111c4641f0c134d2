#include "compiler/select/gpu/product.h"

#include "compiler/ops/linear/matmul.h"
#include "compiler/select/gpu/tiles.h"
#include "runtime_stub/onnxc/contract/gpu.hpp"

namespace onnxc {
namespace {

constexpr int64_t kFloat = 4;  // bytes

double likely(Dim d) { return d.is_constant() ? static_cast<double>(d.value()) : 128.0; }
Dim row_of(Dim k) { return round_up(k, 16 / kFloat); }

/// The matrices of a stack by at most two axes: how many, and the steps of the operands in matrices of their own.
struct Stack {
  struct Axis {
    Dim extent = 1, a = 0, b = 0, y = 0;
  };
  Axis inner, outer;
  Dim count() const { return inner.extent * outer.extent; }
};

/// Strides along the result's batch axes in matrices.
DimList matrix_strides(Extents operand, const Extents& batch) {
  operand[operand.size() - 1] = operand[operand.size() - 2] = 1;
  return batch_strides(operand, batch);
}

/// Empty if more than two axes are left once those that all walk alike are one.
std::optional<Stack> stack_of(const MatrixProduct& p) {
  const DimList a = matrix_strides(p.a, p.batch), b = matrix_strides(p.b, p.batch);
  std::vector<Stack::Axis> axes;  // from the innermost one on
  Dim count = 1;
  for (std::size_t k = p.batch.size(); k-- > 0;) {
    const Stack::Axis next{p.batch[k], a[k], b[k], count};
    count *= p.batch[k];
    if (next.extent == Dim(1)) continue;
    if (!axes.empty() && next.a == axes.back().a * axes.back().extent && next.b == axes.back().b * axes.back().extent)
      axes.back().extent *= next.extent;
    else axes.push_back(next);
  }
  if (axes.size() > 2) return std::nullopt;
  Stack stack;
  if (!axes.empty()) stack.inner = axes[0];
  if (axes.size() > 1) stack.outer = axes[1];
  return stack;
}

/// An operand as rows of k that products can read, and the elements from one row to the next.
struct RowsOfK {
  PointerArg data;
  Dim stride;
};

/// `count` matrices that lie one behind the other, whose element (row, i) is at row * from_row + i * from_k: as they lie,
/// or copied to rows that begin at whole accesses.
RowsOfK rows_of(KernelQuery& l, const char* name, const View& x, Dim count, Dim rows, Dim k, Dim from_row, Dim from_k) {
  if (from_k == Dim(1) && from_row == row_of(k) && l.is_aligned(x, 16)) return {x.pointer, from_row};
  const Dim stride = row_of(k);
  const PointerArg to = l.workspace(name, ElementType::F32, count * rows * stride);
  StepBuilder step = l.call("gpu_pack_rows");
  NamedArgs params{{"rows", dim_arg(rows)}, {"k", dim_arg(k)}, {"to_stride", dim_arg(stride)}, {"from_row", dim_arg(from_row)}, {"from_k", dim_arg(from_k)}};
  if (!(count == Dim(1))) {
    params.emplace_back("batch", dim_arg(count));
    params.emplace_back("from_batch", dim_arg(rows * k));
  }
  step.call().bytes = count * rows * (k + stride) * kFloat;
  step.pointer(to).pointer(x).params(std::move(params)).emit();
  PointerArg from = to;
  from.writes = false;
  return {from, stride};
}

/// Constant matrices [k, n] as rows of k.
PointerArg packed_right(KernelQuery& l, int64_t count, int64_t n, int64_t k) {
  const std::span<const float> b = l.constant(1)->as<float>();
  const int64_t stride = contract::gpu::row_of(k, kFloat);
  return l.weights(l.graph()[l.node().input(1)].name, {b, count * n * stride, [=] {
                     std::vector<float> rows(static_cast<std::size_t>(count * n * stride));
                     for (int64_t z = 0; z < count; ++z) {
                       for (int64_t i = 0; i < k; ++i) {
                         for (int64_t j = 0; j < n; ++j)
                           rows[static_cast<std::size_t>((z * n + j) * stride + i)] = b[static_cast<std::size_t>((z * k + i) * n + j)];
                       }
                     }
                     return rows;
                   }});
}

void add_stack(NamedArgs& params, const Stack& stack, Dim a, Dim b, Dim y) {
  const auto add = [&](const char* extent, const char* of_a, const char* of_b, const char* of_y, const Stack::Axis& axis) {
    if (axis.extent == Dim(1)) return;
    params.emplace_back(extent, dim_arg(axis.extent));
    params.emplace_back(of_a, dim_arg(axis.a * a));
    params.emplace_back(of_b, dim_arg(axis.b * b));
    params.emplace_back(of_y, dim_arg(axis.y * y));
  };
  add("batch", "a_batch", "b_batch", "y_batch", stack.inner);
  add("outer", "a_outer", "b_outer", "y_outer", stack.outer);
}

}  // namespace

bool lower_gpu_matmul(KernelQuery& l) {
  if (!has_fast_matmul(l.graph(), l.node())) return false;
  MatrixProduct p = matrix_product(l.extents(0), l.extents(1), l.output_type(0).extents);
  const bool one_matrix = p.b.size() == 2;
  if (one_matrix) {  // that all rows of the stack meet
    for (Dim d : p.batch) p.m *= d;
    p.batch = {};
    p.a = {p.m, p.k};
  }
  const std::optional<Stack> stack = stack_of(p);
  if (!stack || !(p.k.max_value() < int64_t{1} << 31)) return false;
  const bool constant = l.constant(1) != nullptr;
  const bool known = p.m.is_constant() && stack->count().is_constant();
  const GpuTilePlan plan = plan_gpu_product(
      *l.target().gpu, {.m = likely(p.m), .n = likely(p.n), .k = likely(p.k), .matrices = likely(stack->count()), .may_split = known && p.n.is_constant() && p.k.is_constant()});
  const double bytes = kFloat * likely(stack->count()) * (likely(p.m) * likely(p.k) + likely(p.n) * likely(p.k) + likely(p.m) * likely(p.n));
  l.consider("gpu_gemm", plan.macs, bytes, [&l, p, plan, stack = *stack, constant] {
    const auto matrices = [](const Extents& extents) { return element_count({extents.begin(), extents.end() - 2}); };
    const RowsOfK a = rows_of(l, "left", l.in(0), matrices(p.a), p.m, p.k, p.k, 1);
    const RowsOfK b = constant ? RowsOfK{packed_right(l, matrices(p.b).value(), p.n.value(), p.k.value()), row_of(p.k)}
                               : rows_of(l, "right", l.in(1), matrices(p.b), p.n, p.k, 1, p.n);
    const View y = l.out(0);
    StepBuilder step = l.call("gpu_gemm");
    step.template_arg(RuntimeName{plan.tile.type()}).template_arg(RuntimeName{"gpu::ThreeTf32"}).pointer(y).pointer(a.data).pointer(b.data);
    NamedArgs params{{"m", dim_arg(p.m)},           {"n", dim_arg(p.n)},           {"k", dim_arg(p.k)},
                     {"a_stride", dim_arg(a.stride)}, {"b_stride", dim_arg(b.stride)}, {"y_stride", dim_arg(p.n)}};
    add_stack(params, stack, p.m * a.stride, p.n * b.stride, p.m * p.n);
    if (plan.splits > 1) {
      step.pointer(l.workspace("parts", ElementType::F32, plan.parts));
      step.call().tickets = plan.tickets;
      params.emplace_back("splits", dim_arg(plan.splits));
    }
    step.params(std::move(params)).epilogue(l.epilogue(l.matrix_shape(y.extents), step)).macs(stack.count() * p.m * p.n * p.k).emit();
  });
  return true;
}

}  // namespace onnxc
