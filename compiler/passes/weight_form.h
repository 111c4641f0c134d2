// How passes/quantise_weights stores weights, and what it has done.
#pragma once
#include <cstdint>

namespace onnxc {

struct WeightForm {
  int bits = 8;           ///< 8 or 4
  int64_t block = 32;     ///< weights that share a scale and a zero point: a power of two from 16 on
  int64_t fewest = 4096;  ///< elements of a tensor; smaller ones stay as they are
};

struct WeightSavings {
  int64_t weights = 0;  ///< that have become codes
  int64_t bytes = 0;    ///< of codes, scales and zero points
  int64_t bytes_as_floats() const { return 4 * weights; }
};

}  // namespace onnxc
