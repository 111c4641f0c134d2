// The kernels that compute an onnxc.ByteMatMul and an onnxc.CentredMatMul.
#include "compiler/ops/linear/matmul.h"
#include "compiler/ops/selected.h"
#include "compiler/select/conv/byte_columns.h"
#include "compiler/select/tiles.h"
#include "compiler/select/weights/pack.h"
#include "runtime_stub/onnxc/contract/quads.hpp"

namespace onnxc {

void lower_fast_byte_matmul(KernelQuery& l) {
  const MatrixProduct p = matrix_product(l.extents(0), l.extents(1), l.output_type(0).extents);
  const Dim rows = p.m * element_count(p.batch);
  // Those of the weights: only a run may know that x has as many.
  if (consider_column_product(l, rows)) return l.build_cheapest();
  const int64_t n = l.extents(1)[1].value(), k = l.extents(1)[0].value(), steps = contract::quads(k);
  const Tile tile = choose_tile(l.target(), {.m = rows, .n = n, .k = steps});
  const double likely = rows.is_constant() ? static_cast<double>(rows.value()) : 128.0;
  l.consider("gemm_quads", gemm_macs(l.target().machine->product, tile, likely, n, steps), 0, [&l, p, rows, tile, n, k] {
    const View a = l.in(0), y = l.out(0);
    StepBuilder step = l.call("gemm_quads");
    step.template_arg(tile.rows).template_arg(tile.vectors).pointer(a);
    step.pointer(l.weights(l.graph()[l.node().input(1)].name, ElementType::I8,
                           pack::quads(l.constant(1)->as<int8_t>(), {.k = k, .n = n, .nr = tile.nr})));
    NamedArgs params{{"m", dim_arg(rows)}, {"n", dim_arg(n)}, {"k", dim_arg(k)}, {"lda", dim_arg(k)}, {"ldc", dim_arg(n)}};
    if (l.has(2)) params.emplace_back("start", l.in(2).pointer);
    params.emplace_back("weights_end", UnitArg::WeightsEnd);
    step.pointer(y).params(std::move(params)).epilogue(l.epilogue(l.matrix_shape(y.extents), step)).macs(rows * p.n * p.k).emit();
  });
  l.build_cheapest();
}

void lower_fast_centred_matmul(KernelQuery& l) {
  const MatrixProduct p = matrix_product(l.extents(0), l.extents(1), l.output_type(0).extents);
  const auto likely = [](Dim d) { return d.is_constant() ? d.value() : 128; };
  const Tile tile = choose_tile(l.target(), {.m = p.m, .n = likely(p.n), .k = contract::quads(likely(p.k))});
  const View a = l.in(0), b = l.in(1), y = l.out(0);
  const PointerArg panel = l.thread_workspace("panel", ElementType::U8, 4 * tile.nr * ceil_div(p.k, 4));
  StepBuilder step = l.call("matmul_quads");
  step.template_arg(tile.rows).template_arg(tile.vectors);
  step.pointer(a).pointer(b).pointer(y).pointer(panel);
  for (int i : {2, 3}) step.optional_pointer(i, ElementType::U8);
  step.params(stacked_matmul_args(p));
  step.epilogue(l.epilogue(l.matrix_shape(y.extents), step)).macs(element_count(p.batch) * p.m * p.n * p.k).emit();
}

}  // namespace onnxc
