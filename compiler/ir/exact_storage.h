// Weights that are stored narrower than f32 and read as the very floats they are: half or a quarter of the bytes to stream, and the same results to the bit.
//
//   f16, bf16    each weight is one of that type: models that were f16 or bf16, whose Casts are folded
//   i8           each weight is a code of -128 to 127 times a scale of its column, rounded once: folded DequantizeLinear, weights of few values. A column is
//                what a product sums into one result: of a matrix b[k, n] one of n, of a convolution an output channel. Of a table it is a row
//
// NaN fits none, since its bits would depend on who widens it; -0.0 and infinity are no code times a scale. Kernels read such weights through
// runtime_stub/onnxc/stored.hpp.
//
// The types of a matrix are found in one pass that ends early where nothing fits: f16 and bf16 by the bits; for i8 by the magnitudes of a column, which are
// 128 at most. The largest, M, is some code c times the scale, so the scale is a neighbour of M / c: all c are tried on these magnitudes.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/ir/element_type.h"

namespace onnxc {

/// How a matrix of constants lies in memory.
struct Storage {
  ElementType element = ElementType::F32;  ///< or F16, BF16, I8
  std::vector<float> scales{};             ///< I8: of each column
};

/// Constants in `count` columns of equal length.
struct Columns {
  std::span<const float> values;
  int64_t count;
  bool whole = false;  ///< each column's values follow each other; else a row's do, one of each column
};

bool is_f16(float x);  ///< one of f16's values, NaN aside
bool is_bf16(float x);

/// The types narrower than f32 that hold all of them exactly: F16, BF16, I8, those of them that do. Scales: one set of columns after the other.
std::vector<Storage> exact_storages(std::span<const Columns> all);

/// The code of a weight in a column of that scale.
int8_t code_of(float weight, float scale);

}  // namespace onnxc
