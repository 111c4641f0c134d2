// Products with weights of 2, 4 or 8 bits (gemm_nbits.hpp): how planners pack weights, and what scratch a share needs.
#pragma once
#include "sizes.hpp"

namespace onnxc::inline ONNXC_ISA::contract {

/// The most weights of a column that share a scale in the packed form: sums of products of 8 and 16 bits must fit 32 bits. Longer blocks repeat
/// their scale.
inline constexpr int64_t kNBitsMostBlock = 256;
/// Blocks hold whole groups of this many weights: 32 bits of each column, at 2 bits.
inline constexpr int64_t kNBitsGroup = 16;

/// A panel of nr columns holds for each block, one after the other: its codes, in groups of 32 bits of each column; nr scales; and nr zero
/// points, which may be absent. Bits s b to s b + b - 1 of byte i of a group of weights of b bits are weight 4 s + i of the group.
constexpr int64_t nbits_codes(int64_t block, int64_t nr, int64_t bits) { return block * nr * bits / 8; }
constexpr int64_t nbits_block_bytes(int64_t block, int64_t nr, int64_t bits, int64_t scale_bytes, int64_t zero_bytes) {
  return nbits_codes(block, nr, bits) + nr * (scale_bytes + zero_bytes);
}

/// Rows that are quantised, or multiplied by expanded weights, at a time.
inline constexpr int64_t kNBitsRows = 16, kNBitsExactRows = 112;
/// Bytes of a row of a that is quantised: numbers of 16 bits, then the step and the sum of each block.
constexpr int64_t nbits_row(int64_t k, int64_t block) { return round_up(k, block) / block * (2 * block + 8); }
/// Steps of k that are expanded at a time: whole blocks.
inline constexpr int64_t kNBitsSteps = 1024;
/// Columns that are expanded at a time, of a panel of nr.
constexpr int64_t nbits_exact_columns(int64_t nr, int64_t lanes) { return nr / lanes % 2 == 0 ? 2 * lanes : lanes; }
constexpr int64_t nbits_exact_scratch(int64_t k, int64_t nr, int64_t lanes) {
  return 4 * nbits_exact_columns(nr, lanes) * ((k < kNBitsSteps ? round_up(k, kNBitsMostBlock) : kNBitsSteps) + kNBitsExactRows);
}
/// Bytes of scratch of a share. `rows`: at most.
constexpr int64_t nbits_scratch(int64_t rows, int64_t k, int64_t block, int64_t nr, int64_t lanes) {
  const int64_t quantised = round_up((rows < kNBitsRows ? rows : kNBitsRows) * nbits_row(k, block), 64);
  return quantised + nbits_exact_scratch(k, nr, lanes);
}

}  // namespace onnxc::inline ONNXC_ISA::contract
