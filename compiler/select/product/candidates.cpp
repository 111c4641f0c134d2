// The kernels that compute a MatMul of f32: by a constant matrix, which is packed, or by one that only a run knows.
#include <algorithm>
#include <cmath>

#include "compiler/ops/linear/matmul.h"
#include "compiler/ops/selected.h"
#include "compiler/select/product/fast_inner_product.h"
#include "compiler/select/product/strassen.h"
#include "compiler/select/slicing.h"
#include "compiler/select/tiles.h"
#include "compiler/select/weights/pack.h"
#include "compiler/select/weights/stored.h"
#include "runtime_stub/onnxc/contract/gemm.hpp"

namespace onnxc {
namespace {

double known(Dim d) { return d.is_constant() ? static_cast<double>(d.value()) : 128.0; }

/// `a` is a stack of matrices, one for each sample: the rows of one sample.
Dim sample_rows(const MatrixProduct& p) {
  Dim rows = 1;
  for (std::size_t axis = 1; axis + 1 < p.a.size(); ++axis) rows *= p.a[axis];
  return rows;
}
/// A likely number of rows. Where only a run knows the number of samples, it is a single sample of many rows, or many
/// samples of few rows.
double likely_rows(const MatrixProduct& p, Dim rows) { return rows.is_constant() ? known(rows) : std::max(128.0, known(sample_rows(p))); }

NamedArgs gemm_params(const MatrixProduct& p, Dim rows) {
  return {{"m", dim_arg(rows)}, {"n", dim_arg(p.n)}, {"k", dim_arg(p.k)}, {"lda", dim_arg(p.k)}, {"ldc", dim_arg(p.n)}};
}

/// b is one constant matrix: it is packed once, and all rows of a read it.
void gemm_candidate(KernelQuery& l, const MatrixProduct& p, Dim rows) {
  const TensorData& b = *l.constant(1);
  const double likely = likely_rows(p, rows);
  const TiledProduct product{.m = rows,
                             .n = p.n.value(),
                             .k = p.k.value(),
                             .likely = sample_rows(p).is_constant() && likely > 128 ? static_cast<int64_t>(likely) : 0};
  const bool one_row = rows == Dim(1);
  const Tile tile = one_row ? choose_row_tile(l.target(), product.n) : choose_tile(l.target(), product);
  const char* const row = one_row ? "gemv" : rows.is_constant() ? "gemm" : "gemm_any";
  const double macs = one_row ? static_cast<double>((product.n + tile.nr - 1) / tile.nr * tile.nr) * known(p.k)
                              : gemm_macs(l.target().machine->product, tile, likely, product.n, product.k);
  // Each tile widens the weights again.
  const double tiles = one_row ? 1 : std::ceil(likely / tile.rows);
  const std::vector<Storage> storages = candidate_storages(l, {{b.as<float>(), product.n}}, rows, tile.rows, l.may_round());
  consider_stored(l, {row, macs, tiles, product.k, product.n}, storages, [&l, &b, p, product, row, one_row, tile](const Storage& storage) {
    const View a = l.in(0), y = l.out(0);
    auto params = gemm_params(p, product.m);
    const std::span<const float> values = b.as<float>();
    const Packed panels{values, pack::panels_size(product.k, product.n, tile.nr),
                        [values, k = product.k, n = product.n, nr = tile.nr] { return pack::panels(values, {.k = k, .n = n, .nr = nr}); },
                        l.kept_constant(1)};
    const PointerArg w = add_stored(l, l.graph()[l.node().input(1)].name, panels, product.k, tile.nr, storage,
                                    pack::padded(storage.scales, tile.nr), params);
    if (!one_row) add_streaming(l, tile, product, 1, params);
    StepBuilder step = l.call(row);
    if (!one_row) step.template_arg(tile.rows);
    step.template_arg(tile.vectors);
    step.pointer(a).pointer(w).pointer(y);
    step.params(std::move(params));
    step.epilogue(l.epilogue(l.matrix_shape(y.extents), step)).macs(product.m * p.n * p.k).emit();
  });
}

/// The same with both operands rounded to bfloat16.
void bf16_candidate(KernelQuery& l, const MatrixProduct& p, Dim rows) {
  if (!l.may_round() || rows == Dim(1)) return;
  const int64_t pairs = contract::bf16_pairs(p.k.value());
  const double likely = likely_rows(p, rows);
  const TiledProduct product{.m = rows, .n = p.n.value(), .k = pairs, .likely = static_cast<int64_t>(likely)};
  const Tile tile = choose_tile(l.target(), product);
  const ProductCosts& costs = l.target().machine->product;
  const double macs = gemm_macs(costs, tile, likely, product.n, pairs) * 2 / costs.bf16_rate + likely * known(p.k) * costs.bf16_value;
  const int64_t count = 2 * pack::panels_size(pairs, product.n, tile.nr);
  const char* const row = rows.is_constant() ? "gemm_bf16" : "gemm_bf16_any";
  l.consider(
      row, macs, 2 * static_cast<double>(count),
      [&l, p, product, row, tile, pairs, count] {
        const View a = l.in(0), y = l.out(0);
        const std::span<const float> b = l.constant(1)->as<float>();
        const auto make = [b, k = p.k.value(), n = product.n, nr = tile.nr] {
          return Bytes::of(pack::bf16_pairs(b, {.k = k, .n = n, .nr = nr}));
        };
        const PointerArg w = l.weights(l.graph()[l.node().input(1)].name, ElementType::BF16,
                                       WeightBytes::made(2 * count, {l.kept_constant(1)}, make), 2 * count);
        auto params = gemm_params(p, product.m);
        add_streaming(l, tile, product, 1, params);
        const Slicing slicing = choose_slicing(l.target(), tile, product, 1);
        const int64_t block = slicing.steps > 0 ? slicing.rows : contract::block_rows(pairs, tile.rows);
        const PointerArg scratch = l.thread_workspace("rounded", ElementType::F32, min(product.m, Dim(block)) * pairs);
        StepBuilder step = l.call(row);
        step.template_arg(tile.rows).template_arg(tile.vectors).pointer(a).pointer(w).pointer(y).pointer(scratch);
        step.params(std::move(params));
        step.epilogue(l.epilogue(l.matrix_shape(y.extents), step)).macs(product.m * p.n * p.k).emit();
      },
      2 * count - 4 * p.k.value() * product.n);
}

/// b is one large constant matrix. The first axis of a stack is assumed to count samples. A single matrix is left
/// out, since each of its rows may be a sample.
void strassen_candidate(KernelQuery& l, const MatrixProduct& p, Dim rows) {
  if (p.a.size() < 3 || p.a[0] == Dim(0)) return;
  const ConstantMatrix b{l.graph()[l.node().input(1)].name, l.constant(1)->as<float>(), false, l.kept_constant(1)};
  consider_strassen(l, {.m = rows, .n = p.n.value(), .k = p.k.value(), .likely = static_cast<int64_t>(likely_rows(p, rows))},
                    sample_rows(p), b, [&l, p, rows](const StrassenPlan& plan, PointerArg w, PointerArg scratch) {
                      const View a = l.in(0), y = l.out(0);
                      StepBuilder step = l.call("strassen");
                      strassen_args(step, plan, a, w, y, scratch, gemm_params(p, rows), sample_rows(p));
                      step.epilogue(l.epilogue(l.matrix_shape(y.extents), step)).macs(rows * p.n * p.k).emit();
                    });
}

/// The same by Winograd's inner product. If a run may have a single row, the weights must fit in L2: from beyond it,
/// gemv's order is best for one row.
void fast_inner_product_candidate(KernelQuery& l, const MatrixProduct& p, Dim rows) {
  const Dim sample = sample_rows(p);
  const int64_t n = p.n.value(), k = p.k.value();
  const bool any = !rows.is_constant() && (!sample.is_constant() || sample == Dim(1));
  if (any && 4 * n * k > l.target().l2_bytes) return;
  const char* const row = any ? "fast_inner_product_any" : "fast_inner_product";
  const ConstantMatrix b{l.graph()[l.node().input(1)].name, l.constant(1)->as<float>(), false, l.kept_constant(1)};
  const TiledProduct product{.m = rows, .n = n, .k = k, .likely = static_cast<int64_t>(likely_rows(p, rows))};
  consider_fast_inner_product(l, row, product, b, [&l, p, rows, row](const InnerProductPlan& plan, PointerArg w, PointerArg scratch) {
    const View a = l.in(0), y = l.out(0);
    StepBuilder step = l.call(row);
    fast_inner_product_args(step, plan, a, w, y, scratch, gemm_params(p, rows));
    step.epilogue(l.epilogue(l.matrix_shape(y.extents), step)).macs(rows * p.n * p.k).emit();
  });
}

/// b is one constant matrix with so few columns that most lanes of a panel would be empty.
void few_columns_candidate(KernelQuery& l, const MatrixProduct& p, Dim rows) {
  const int64_t n = p.n.value(), k = p.k.value(), lanes = l.target().vector_floats;
  if (n > lanes / 4) return;
  const ProductCosts& costs = l.target().machine->product;
  const double row_macs = static_cast<double>((k + lanes - 1) / lanes * lanes * n) * costs.lanes_time + costs.lanes_row +
                          costs.lanes_column * static_cast<double>(n);
  l.consider("gemm_few_columns", likely_rows(p, rows) * row_macs, 4 * static_cast<double>(k * n), [&l, p, rows, n, k, lanes] {
    const View a = l.in(0), y = l.out(0);
    const std::span<const float> b = l.constant(1)->as<float>();
    const Packed packed{b, pack::panels_size(n, k, lanes),
                        [b, n, k, lanes] { return pack::panels(b, {.k = n, .n = k, .nr = lanes, .transposed = true, .ld = n}); },
                        l.kept_constant(1)};
    const PointerArg w = l.weights(l.graph()[l.node().input(1)].name, packed);
    StepBuilder step = l.call("gemm_few_columns");
    step.template_arg(n).pointer(a).pointer(w).pointer(y);
    step.params(gemm_params(p, rows));
    step.epilogue(l.epilogue(l.matrix_shape(y.extents), step)).macs(rows * p.n * p.k).emit();
  });
}

/// Neither operand is constant.
void matmul_candidate(KernelQuery& l, const MatrixProduct& p) {
  const int64_t columns = p.n.is_constant() ? p.n.value() : 128;
  const Tile tile = choose_tile(l.target(), {.m = p.m, .n = columns, .k = p.k.is_constant() ? p.k.value() : 128});
  const double macs = known(element_count(p.batch)) * known(p.m) * known(p.n) * known(p.k);
  l.consider("matmul", macs, 0, [&l, p, tile] {
    const View a = l.in(0), b = l.in(1), y = l.out(0);
    const PointerArg scratch = l.thread_workspace("panel", ElementType::F32, contract::matmul_scratch(p.k, tile.nr));
    StepBuilder step = l.call("matmul");
    step.template_arg(tile.rows).template_arg(tile.vectors);
    step.pointer(a).pointer(b).pointer(y).pointer(scratch);
    step.params(stacked_matmul_args(p));
    step.epilogue(l.epilogue(l.matrix_shape(y.extents), step)).macs(element_count(p.batch) * p.m * p.n * p.k).emit();
  });
}

}  // namespace

void lower_fast_matmul(KernelQuery& l) {
  const MatrixProduct p = matrix_product(l.extents(0), l.extents(1), l.output_type(0).extents);
  const bool one_matrix = p.b.size() == 2;
  if (!one_matrix) return matmul_candidate(l, p);
  // All matrices of the stack meet the same b, so the stack is one tall matrix.
  MatrixProduct tall = p;
  for (Dim d : p.batch) tall.m *= d;
  if (l.constant(1) != nullptr && p.n.is_constant() && p.k.is_constant() && p.n.value() > 0) {
    gemm_candidate(l, p, tall.m);
    bf16_candidate(l, p, tall.m);
    if (!l.target().bare) {
      strassen_candidate(l, p, tall.m);
      fast_inner_product_candidate(l, p, tall.m);
    }
    return few_columns_candidate(l, p, tall.m);
  }
  tall.a = {tall.m, p.k};
  tall.batch = {};
  matmul_candidate(l, tall);
}

}  // namespace onnxc
