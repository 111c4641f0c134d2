#include "compiler/select/gpu/product.h"

#include <algorithm>

#include "compiler/ops/linear/matmul.h"
#include "compiler/select/conv/conv_call.h"
#include "compiler/select/gpu/rows_of_k.h"
#include "compiler/select/gpu/tiles.h"
#include "compiler/select/likely.h"
#include "runtime_stub/onnxc/contract/gpu.hpp"

namespace onnxc {
namespace {

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

/// Constant matrices [k, n] as rows of k that are `row` elements apart, with zeros behind k.
template <class T>
std::vector<T> transposed(std::span<const T> b, int64_t count, int64_t n, int64_t k, int64_t row) {
  std::vector<T> packed(static_cast<std::size_t>(count * n * row));
  for (int64_t z = 0; z < count; ++z) {
    for (int64_t i = 0; i < k; ++i) {
      for (int64_t j = 0; j < n; ++j)
        packed[static_cast<std::size_t>((z * n + j) * row + i)] = b[static_cast<std::size_t>((z * k + i) * n + j)];
    }
  }
  return packed;
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

/// A node's product, of which one constant right side serves all rows.
struct Product {
  MatrixProduct matrices;
  Stack stack;
  ElementType left, right, sums;
  bool is_constant;  ///< the right side

  double macs() const {
    return likely_extent(stack.count()) * likely_extent(matrices.m) * likely_extent(matrices.n) * likely_extent(matrices.k);
  }
  double bytes() const {
    const double m = likely_extent(matrices.m), n = likely_extent(matrices.n), k = likely_extent(matrices.k);
    return likely_extent(stack.count()) * (static_cast<double>(gpu_bytes(left)) * (m * k + n * k) + 4 * m * n);
  }
};

std::optional<Product> product_of(KernelQuery& l, ElementType left, ElementType right, ElementType sums) {
  MatrixProduct p = matrix_product(l.extents(0), l.extents(1), l.output_type(0).extents);
  if (p.b.size() == 2) {  // that all rows of the stack meet
    for (Dim d : p.batch) p.m *= d;
    p.batch = {};
    p.a = {p.m, p.k};
  }
  const std::optional<Stack> stack = stack_of(p);
  if (!stack || (p.k.is_constant() && p.k.value() >= int64_t{1} << 31)) return std::nullopt;
  return Product{std::move(p), *stack, left, right, sums, l.constant(1) != nullptr};
}

RowsOfK right_side(KernelQuery& l, const Product& product) {
  const auto& [b, batch, n, k] = std::tie(product.matrices.b, product.matrices.batch, product.matrices.n, product.matrices.k);
  const Dim count = element_count({b.begin(), b.end() - 2});
  if (!product.is_constant)
    return rows_of_k(l, "right", l.in(1), {.count = count, .rows = n, .k = k, .step = n * k, .from_row = 1, .from_k = n});
  const std::string& name = l.graph()[l.node().input(1)].name;
  const int64_t z = count.value(), cols = n.value(), depth = l.extents(1)[b.size() - 2].value(),
                row = contract::gpu::row_of(depth, gpu_bytes(product.right));
  if (product.right == ElementType::I8)
    return {l.weights(name, ElementType::I8, transposed(l.constant(1)->as<int8_t>(), z, cols, depth, row)), row};
  const std::span<const float> floats = l.constant(1)->as<float>();
  return {l.weights(name, {floats, z * cols * row, [=] { return transposed(floats, z, cols, depth, row); }, l.kept_constant(1)}), row};
}

/// States a kernel of that row. `begin(step)` adds template arguments.
template <class Begin>
void consider_product(KernelQuery& l, const Product& product, const char* row, double macs, const GpuTilePlan& plan, Begin begin) {
  l.consider(row, macs, product.bytes(), [&l, product, row, plan, begin] {
    const MatrixProduct& p = product.matrices;
    const Dim count = element_count({p.a.begin(), p.a.end() - 2});
    const RowsOfK a =
        rows_of_k(l, "left", l.in(0), {.count = count, .rows = p.m, .k = p.k, .step = p.m * p.k, .from_row = p.k, .from_k = 1});
    const RowsOfK b = right_side(l, product);
    const View y = l.out(0);
    StepBuilder step = l.call(row);
    begin(step);
    step.pointer(y).pointer(a.data).pointer(b.data);
    NamedArgs params{{"m", dim_arg(p.m)},
                     {"n", dim_arg(p.n)},
                     {"k", dim_arg(p.k)},
                     {"a_stride", dim_arg(a.stride)},
                     {"b_stride", dim_arg(b.stride)},
                     {"y_stride", dim_arg(p.n)}};
    add_stack(params, product.stack, p.m * a.stride, p.n * b.stride, p.m * p.n);
    add_splits(l, step, plan, product.sums, params);
    step.params(std::move(params)).epilogue(l.epilogue(l.matrix_shape(y.extents), step, bias_as_given(l)));
    step.macs(product.stack.count() * p.m * p.n * p.k).emit();
  });
}

/// By multiply-adds in the order of k, from operands as they lie.
void lower_exact(KernelQuery& l, const Product& product) {
  const MatrixProduct& p = product.matrices;
  const View a = l.in(0), b = l.in(1), y = l.out(0);
  NamedArgs params{{"m", dim_arg(p.m)}, {"n", dim_arg(p.n)},   {"k", dim_arg(p.k)},   {"a_row", dim_arg(p.k)},
                   {"a_k", dim_arg(1)}, {"b_col", dim_arg(1)}, {"b_k", dim_arg(p.n)}, {"y_stride", dim_arg(p.n)}};
  add_stack(params, product.stack, p.m * p.k, p.n * p.k, p.m * p.n);
  StepBuilder step = l.call("gpu_gemm_exact");
  step.pointer(y).pointer(a).pointer(b).params(std::move(params)).epilogue(l.epilogue(l.matrix_shape(y.extents), step));
  step.macs(product.stack.count() * p.m * p.n * p.k).emit();
}

/// Of kernels for few rows.
constexpr int64_t kMostRows = 8;
/// The least power of two with room for m rows, or as many as a kernel has.
int64_t rows_at_once(Dim m) {
  int64_t rows = 1;
  while (rows < std::min(m.max_value(), kMostRows)) rows *= 2;
  return rows;
}

GpuTilePlan plan_for(KernelQuery& l, const Product& product) {
  const MatrixProduct& p = product.matrices;
  const bool known = p.m.is_constant() && p.n.is_constant() && p.k.is_constant() && product.stack.count().is_constant();
  return plan_gpu_product(*l.target().gpu, {.m = likely_extent(p.m),
                                            .n = likely_extent(p.n),
                                            .words = likely_extent(p.k) * static_cast<double>(gpu_bytes(product.left)) / 4,
                                            .matrices = likely_extent(product.stack.count()),
                                            .may_split = known});
}

}  // namespace

bool lower_gpu_nbits(KernelQuery& l) {
  const Node& node = l.node();
  const View a = l.in(0), w = l.in(1);
  if (a.element != ElementType::F32 || l.has(4) || l.has(5) || !l.is_aligned(w, 16)) return false;
  const View y = l.out(0);
  const int64_t n = node.integer("N", 0), k = node.integer("K", 0);
  const Dim m = floor_div(element_count(y.extents), n);
  StepBuilder step = l.call("gpu_gemv_nbits");
  step.template_arg(node.integer("bits", 4)).template_arg(rows_at_once(m)).pointer(y).pointer(a).pointer(w).pointer(l.in(2));
  step.optional_pointer(3);
  step.params({{"m", dim_arg(m)}, {"n", dim_arg(n)}, {"k", dim_arg(k)}, {"block", dim_arg(node.integer("block_size", 0))}});
  step.epilogue(l.epilogue(l.matrix_shape(y.extents), step)).macs(m * (n * k)).emit();
  return true;
}

bool lower_gpu_matmul(KernelQuery& l) {
  if (!has_fast_matmul(l.graph(), l.node())) return false;
  const auto product = product_of(l, ElementType::F32, ElementType::F32, ElementType::F32);
  if (!product) return false;
  if (l.math() == Math::Strict) return lower_exact(l, *product), true;
  const GpuTilePlan plan = plan_for(l, *product);
  consider_product(l, *product, "gpu_gemm", plan.macs * gpu_float_time(l), plan, [plan, kind = gpu_float_kind(l)](StepBuilder& step) {
    step.template_arg(RuntimeName{plan.tile.type()}).template_arg(RuntimeName{kind});
  });
  if (product->matrices.m.max_value() > kMostRows) return true;
  const int64_t rows = rows_at_once(product->matrices.m);
  consider_product(l, *product, "gpu_gemv", product->macs(), {}, [rows](StepBuilder& step) { step.template_arg(rows); });
  return true;
}

bool lower_gpu_byte_matmul(KernelQuery& l) {
  if (l.type(0).rank() < 2 || l.constant(1) == nullptr || !has_room_for_bias(l)) return false;
  const auto product = product_of(l, ElementType::U8, ElementType::I8, ElementType::I32);
  if (!product) return false;
  const GpuTilePlan plan = plan_for(l, *product);
  consider_product(l, *product, "gpu_gemm", plan.macs * kGpuByteTime, plan,
                   [plan](StepBuilder& step) { step.template_arg(RuntimeName{plan.tile.type()}).template_arg(RuntimeName{"gpu::U8S8"}); });
  return true;
}

}  // namespace onnxc
