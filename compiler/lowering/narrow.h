// Weights that are stored narrower than f32 and read as the very floats they are: half or a quarter of the bytes to stream, and the same results to the bit.
//
//   f16, bf16    each weight is one of that type: models that were f16 or bf16, whose Casts are folded
//   i8           each weight is a code of -128 to 127 times a scale of its column, rounded once: folded DequantizeLinear, weights of few values
//
// NaN fits none, since its bits would depend on who widens it; -0.0 and infinity are no code times a scale. Kernels read such weights through
// runtime_stub/onnxc/stored.hpp.
//
// The types of a matrix are found in one pass that ends early where nothing fits: f16 and bf16 by the bits; for i8 by the magnitudes of a column, which are
// 128 at most. The largest, M, is some code c times the scale, so the scale is a neighbour of M / c: all c are tried on these magnitudes.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/lowering/lowering.h"

namespace onnxc {

/// How a matrix of constants lies in memory.
struct Storage {
  ElementType element = ElementType::F32;  ///< or F16, BF16, I8
  std::vector<float> scales{};             ///< I8: of each column
};

bool is_f16(float x);   ///< one of f16's values, NaN aside
bool is_bf16(float x);

/// The types narrower than f32 that hold b[k, n], row-major, exactly: F16, BF16, I8, those of them that do.
std::vector<Storage> exact_storages(std::span<const float> b, int64_t n);

/// The code of a weight in a column of that scale.
int8_t code_of(float weight, float scale);

/// Panels [ceil(n / nr)][k][nr] as `storage` has their elements; `panels` itself where that is f32.
std::vector<std::byte> store(std::span<const float> panels, int64_t k, int64_t nr, const Storage& storage);

/// The candidates for the right operand of a product of `rows` rows: f32 alone, f32 and what else is exact, or what is narrowest, as --narrow-weights says.
/// `tile`: of rows. Where the choice is free, narrow ones are candidates for weights that come from beyond L2 and rows of one tile at most, which wait for
/// them; for more rows the gain is small, and what it takes to widen them is not.
std::vector<Storage> candidate_storages(const Lowering& l, std::span<const float> b, int64_t n, Dim rows, int64_t tile);

/// What a candidate's weights cost, for Lowering::consider.
struct StorageCost {
  double macs;     ///< what it takes to widen them once, in multiply-adds
  double bytes;
  int64_t growth;  ///< of their bytes over f32's
  std::string note;
};
StorageCost cost_of(const Storage& storage, const Target& target, int64_t k, int64_t n);

/// Adds the panels to the weights, and their scales to `params` where they have any.
PointerArg add_panels(Lowering& l, const std::string& from, std::vector<float> panels, int64_t k, int64_t nr, const Storage& storage,
                      std::vector<std::pair<std::string, Arg>>& params);

}  // namespace onnxc
