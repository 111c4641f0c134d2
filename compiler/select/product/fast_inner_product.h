// Products by a constant matrix in which additions replace a third of the multiply-adds: a candidate like gemm, for
// MatMul and 1x1 convolutions.
#pragma once
#include <functional>
#include <string_view>

#include "compiler/ops/kernel_query.h"
#include "compiler/select/product/constant_matrix.h"
#include "compiler/select/tiles.h"

namespace onnxc {

/// How the kernel is called: the rows of a tile, and the rows that are copied at a time. `macs`: the cost of the
/// whole product, in multiply-adds at the FMA peak.
struct InnerProductPlan {
  int rows;
  int64_t block = 0;
  int64_t readings = 1;  ///< how often the weights are read from beyond L2
  double macs;
};

/// The cheapest plan.
InnerProductPlan plan_fast_inner_product(const Target& target, int64_t rows, int64_t n, int64_t k);

/// Considers the kernel of that row, fast_inner_product or fast_inner_product_any, if it supports the product. The
/// cost is that of the likely number of rows. `build` gets the plan, the packed matrix and the kernel's scratch
/// memory, and calls the kernel with their arguments.
void consider_fast_inner_product(KernelQuery& l, std::string_view row, const TiledProduct& product, const ConstantMatrix& b,
                                 const std::function<void(const InnerProductPlan&, PointerArg, PointerArg)>& build);

/// Adds all arguments of a call except the epilogue. `params`: those of gemm.
void fast_inner_product_args(StepBuilder& step, const InnerProductPlan& plan, const View& a, PointerArg w, const View& y,
                             PointerArg scratch, NamedArgs params);

}  // namespace onnxc
