// Large products by a constant matrix in seven products of half the size: a candidate beside gemm, for MatMul and for convolutions of one pixel.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ops/kernel_query.h"
#include "compiler/select/product/constant_matrix.h"
#include "compiler/select/tiles.h"

namespace onnxc {

/// The rows of each sample by k rows and n columns of weights.
struct StrassenProduct {
  int64_t samples, sample_rows, n, k, threads = 1;
  bool weights_stream = false;  ///< from beyond L2
};

/// How they are multiplied: the tile, the rows of a block, and what a sample takes, in multiply-adds at the FMA peak.
struct StrassenPlan {
  Tile tile;
  int64_t block;
  double sample_macs;
};

/// The cheapest. Weights that stay in L2 are read anew for each block, of as few rows as make whole tiles; of larger ones as much as lies in L2 together with its sums, but
/// of more rows than a few two blocks at least: they cost no more than one. Threads share blocks and pairs of panels, and wait where these do not divide.
StrassenPlan plan_strassen(const Target& target, const StrassenProduct& product);

/// Where the product is one that the kernel takes: of rows that stand for parts of one sample, `sample_rows` for each, since it adds rows to others, and an infinity
/// or NaN in one sample must not reach the next. `build` gets the plan, the packed matrix and the kernel's scratch, and calls "strassen" with strassen_args.
void consider_strassen(KernelQuery& l, const TiledProduct& product, Dim sample_rows, const ConstantMatrix& b,
                       const std::function<void(const StrassenPlan&, PointerArg, PointerArg)>& build);

/// The arguments of a call of it but for the epilogue; `params`: those of gemm; `sample`: rows of one.
void strassen_args(StepBuilder& step, const StrassenPlan& plan, const View& a, PointerArg w, const View& y, PointerArg scratch,
                   NamedArgs params, Dim sample);

}  // namespace onnxc
