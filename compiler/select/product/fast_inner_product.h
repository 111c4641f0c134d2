// Products by a constant matrix with additions in the place of a third of the multiply-adds: a candidate beside gemm, for MatMul and for convolutions of one pixel.
#pragma once
#include <functional>
#include <string_view>

#include "compiler/ops/kernel_query.h"
#include "compiler/select/product/constant_matrix.h"
#include "compiler/select/tiles.h"

namespace onnxc {

/// How its rows are multiplied: so many in a tile, so many copied at a time, and what all take, in multiply-adds at the FMA peak.
struct InnerProductPlan {
  int rows;
  int64_t block = 0;
  int64_t readings = 1;  ///< of the weights, from beyond L2
  double macs;
};

/// The cheapest.
InnerProductPlan plan_fast_inner_product(const Target& target, int64_t rows, int64_t n, int64_t k);

/// Where the product is one that the kernel of that row takes, fast_inner_product or fast_inner_product_any, with as many rows as are likely. `build` gets the plan, the packed matrix
/// and the kernel's scratch, and calls the kernel with their arguments.
void consider_fast_inner_product(KernelQuery& l, std::string_view row, const TiledProduct& product, const ConstantMatrix& b,
                                 const std::function<void(const InnerProductPlan&, PointerArg, PointerArg)>& build);

/// The arguments of a call of it but for the epilogue; `params`: those of gemm.
void fast_inner_product_args(StepBuilder& step, const InnerProductPlan& plan, const View& a, PointerArg w, const View& y,
                             PointerArg scratch, NamedArgs params);

}  // namespace onnxc
