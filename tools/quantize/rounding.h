// Weights become integers.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "tools/model/moments.h"

namespace onnxc {

struct RoundingOptions {
  int bits = 8;         ///< codes run from -127 to 127, or from -7 to 7
  bool per_row = true;  ///< a scale for each row; otherwise one for all
  int64_t block = 0;    ///< not 0: a scale for each so many columns of a row
};

/// Row r, column c stands for codes[r * columns + c] * scales[scale_index(r, c)]. Zero points are 0.
struct RoundedWeights {
  int64_t rows = 0, columns = 0, block = 0;
  bool per_row = true;
  std::vector<int8_t> codes;
  std::vector<float> scales;

  int64_t blocks_of_row() const { return block == 0 ? 1 : (columns + block - 1) / block; }
  std::size_t scale_index(int64_t row, int64_t column) const {
    return static_cast<std::size_t>(!per_row ? 0 : row * blocks_of_row() + (block == 0 ? 0 : column / block));
  }
  float value(int64_t row, int64_t column) const {
    return static_cast<float>(codes[static_cast<std::size_t>(row * columns + column)]) * scales[scale_index(row, column)];
  }
};

/// Rounds to the nearest codes; with moments of the inputs, so that errors of a row's columns cancel in the layer's output (GPTQ, Frantar et al. 2022). Empty
/// where a scale would be 0 or no finite number.
std::optional<RoundedWeights> round_weights(const WeightMatrix& weights, const RoundingOptions& options, const Moments* moments);

}  // namespace onnxc
