// Large products by a constant matrix as seven products of half the size: a candidate like gemm, for MatMul and 1x1
// convolutions.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ops/kernel_query.h"
#include "compiler/select/product/constant_matrix.h"
#include "compiler/select/tiles.h"

namespace onnxc {

/// The product of each sample's rows by weights of k rows and n columns.
struct StrassenProduct {
  int64_t samples, sample_rows, n, k, threads = 1;
  bool weights_stream = false;  ///< weights come from beyond L2
};

/// How the kernel is called: the register tile and the rows of a block. `sample_macs`: the cost of one sample, in
/// multiply-adds at the FMA peak.
struct StrassenPlan {
  Tile tile;
  int64_t block;
  double sample_macs;
};

/// The cheapest plan. Weights that stay in L2 are read again for each block, and a block has few rows, in whole
/// tiles. With larger weights a block has as many rows as lie in L2 together with its sums; a sample of more than a
/// few rows then still gets two blocks, which cost no more than one. Threads share blocks and pairs of panels, and
/// wait for each other where these do not divide evenly.
StrassenPlan plan_strassen(const Target& target, const StrassenProduct& product);

/// Considers the kernel "strassen" if it supports the product. It adds rows to other rows, and an infinity or NaN in
/// one sample must not reach another. So rows must be parts of samples, `sample_rows` of each, and blocks do not
/// cross samples. `build` gets the plan, the packed matrix and the kernel's scratch memory, and calls the kernel with
/// strassen_args.
void consider_strassen(KernelQuery& l, const TiledProduct& product, Dim sample_rows, const ConstantMatrix& b,
                       const std::function<void(const StrassenPlan&, PointerArg, PointerArg)>& build);

/// Adds all arguments of a call except the epilogue. `params`: those of gemm; `sample`: the rows of one sample.
void strassen_args(StepBuilder& step, const StrassenPlan& plan, const View& a, PointerArg w, const View& y, PointerArg scratch,
                   NamedArgs params, Dim sample);

}  // namespace onnxc
