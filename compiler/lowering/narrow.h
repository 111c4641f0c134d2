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
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/lowering/lowering.h"

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

/// What exact_storages said of matrices, by where the first and the last of those stored alike lie: it serves lowerings of graphs that share their constants and outlive it.
struct KnownStorages {
  using Matrix = std::tuple<const float*, std::size_t, int64_t, bool>;  ///< as Columns
  std::map<std::pair<Matrix, Matrix>, std::vector<Storage>> exact;
};

/// The code of a weight in a column of that scale.
int8_t code_of(float weight, float scale);

/// Panels [number][k][nr] with elements of that type; `scales`: I8: of the columns of all panels, 0 for those that are padding. `lanes`: of a vector; where nr is no
/// multiple, the last holds pairs (pack::pairs).
std::vector<std::byte> store(std::span<const float> panels, int64_t k, int64_t nr, ElementType element, std::span<const float> scales,
                             int64_t lanes);

/// How the right operand of a product of `rows` rows may be stored, or several that are stored alike: f32, and behind it as what else --narrow-weights says. All: what
/// takes least. Auto: what is exact, for weights that come from beyond L2 and rows of one tile at most, which wait for them; for more rows the gain is
/// small, and what it takes to widen them is not. `tile`: of rows; 0: nothing waits.
std::vector<Storage> candidate_storages(const Lowering& l, const std::vector<Columns>& b, Dim rows, int64_t tile);

/// A kernel that reads weights [k, n] of any of these types.
struct StoredKernel {
  std::string_view row;
  double macs;
  double readings;     ///< how often it widens the weights
  int64_t k, n;        ///< with what fills panels
  std::string note{};  ///< what sets the candidate apart from others of its row
  int64_t added = 0;   ///< weights of n * k that are zeros of the kernel's own
};
/// Lowering::consider for each storage; `build` gets the one that is chosen.
void consider_stored(Lowering& l, const StoredKernel& kernel, const std::vector<Storage>& storages,
                     const std::function<void(const Storage&)>& build);

/// Adds packed weights, and their scales to `params` where they have any. `scales`: as the kernel reads them, a panel's side by side.
PointerArg add_stored(Lowering& l, const std::string& from, const Packed& panels, int64_t k, int64_t nr, const Storage& storage,
                      std::vector<float> scales, std::vector<std::pair<std::string, Arg>>& params);

}  // namespace onnxc
