// Large products by a constant matrix in seven products of half the size: a candidate beside gemm, for MatMul and for convolutions of one pixel.
#pragma once
#include <functional>
#include <span>
#include <string>

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

/// Where the product is one that the kernel takes: of rows that stand for parts of one sample, `sample_rows` for each, since it adds rows to others, and an infinity
/// or NaN in one sample must not reach the next. `build` gets the plan, the packed matrix and the kernel's scratch, and calls "strassen".
void consider_strassen(Lowering& l, const TiledProduct& product, Dim sample_rows, const ConstantMatrix& b, const std::function<void(const StrassenPlan&, PointerArg, PointerArg)>& build);

}  // namespace onnxc
