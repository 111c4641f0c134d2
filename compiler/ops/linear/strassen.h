// Large products by a constant matrix in seven products of half the size: a candidate beside gemm, for MatMul and for convolutions of one pixel.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/lowering/lowering.h"
#include "compiler/lowering/tiles.h"

namespace onnxc {

/// A constant matrix of k rows and n columns. `transposed`: it is stored as n rows of k, as the weights of a convolution are.
struct ConstantMatrix {
  std::string name;
  std::span<const float> values;
  bool transposed = false;
};

/// How a product is done: the tile, and the rows of a block.
struct StrassenPlan {
  Tile tile;
  int64_t block;
};

/// Blocks of one sample each, as even as can be, of rows that lie in L2 together with their sums, and of panels of sums that do not push them out; of more rows than a
/// few, two at least, for two threads: they cost no more than one. Nothing where there may be `several` samples whose rows do not divide into blocks worth it.
std::optional<StrassenPlan> plan_strassen(const Target& target, bool several, int64_t sample_rows, int64_t n, int64_t k);

/// Where the product is one that the kernel takes: of rows that stand for parts of one sample, `sample_rows` for each, since it adds rows to others, and an infinity
/// or NaN in one sample must not reach the next. `build` gets the plan, the packed matrix and the kernel's scratch, and calls "strassen" with strassen_args.
void consider_strassen(Lowering& l, const TiledProduct& product, Dim sample_rows, const ConstantMatrix& b, const std::function<void(const StrassenPlan&, PointerArg, PointerArg)>& build);

/// The arguments of a call of it but for the epilogue; `params`: those of gemm.
void strassen_args(StepBuilder& step, const StrassenPlan& plan, const View& a, PointerArg w, const View& y, PointerArg scratch, std::vector<std::pair<std::string, Arg>> params);

}  // namespace onnxc
