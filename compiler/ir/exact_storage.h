// Weights that are stored in a type narrower than f32 without changing their values. Half or a quarter of the bytes
// is streamed, and results are the same to the bit.
//
//   f16, bf16    each weight is a number of that type: models that were f16 or bf16, whose Casts are folded
//   i8           each weight is a code of -128 to 127 times a scale of its column, rounded once: folded DequantizeLinear, weights
//                with few distinct values. A column is what a product sums into one result: one of n of a matrix b[k, n], or an
//                output channel of a convolution. Of a table it is a row
//
// NaN fits no type, since its bits would depend on how it is widened; -0.0 and infinity are no code times a scale.
// Kernels read such weights through runtime_stub/onnxc/stored.hpp.
//
// The types of a matrix are found in one pass that ends early if nothing fits: f16 and bf16 by the bits; i8 by the
// distinct magnitudes of a column, of which there are at most 128. The largest magnitude M is some code c times the
// scale, so the scale is M / c or a neighbouring float. All c are tried on these magnitudes.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/ir/element_type.h"

namespace onnxc {

/// How a matrix of constants is stored.
struct Storage {
  ElementType element = ElementType::F32;  ///< or F16, BF16, I8
  std::vector<float> scales{};             ///< I8: one for each column
};

/// Constants in `count` columns of equal length.
struct Columns {
  std::span<const float> values;
  int64_t count;
  bool whole = false;  ///< true: the values of a column are contiguous; false: those of a row
};

bool is_f16(float x);  ///< x is a value of f16, and not NaN
bool is_bf16(float x);

/// Those of the types F16, BF16 and I8 that hold all columns exactly. Scales: those of one set of columns after the
/// other.
std::vector<Storage> exact_storages(std::span<const Columns> all);

/// The code of a weight in a column of that scale.
int8_t code_of(float weight, float scale);

}  // namespace onnxc
