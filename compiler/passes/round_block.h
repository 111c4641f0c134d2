// Weights of a block become codes: the scale and the zero point with the least squared error, of a few.
//
//   code = clamp(round(x / scale) + zero, 0, 2^bits - 1)        x is about (code - zero) * scale
//
// A scale that spans the block exactly lets no weight be clipped, and a smaller one rounds all the others better: scales from there down to three
// quarters (4 bits) are tried, each with the two zero points that put the block's middle next to the middle of the codes. 0 is always a code.
#pragma once
#include <cstdint>
#include <span>

namespace onnxc {

/// Scales are such that f16 holds them, where that is within 1 %: kernels store them so.
struct RoundedBlock {
  float scale = 1;
  int64_t zero = 0;
  double error = 0;  ///< the sum of squares
};

/// `weights` are finite. `codes`: as many.
RoundedBlock round_block(std::span<const float> weights, int bits, std::span<uint8_t> codes);

}  // namespace onnxc
