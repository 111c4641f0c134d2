// Strassen's product (strassen.hpp): packed weights and scratch memory.
#pragma once
#include "sizes.hpp"

namespace onnxc::inline ONNXC_ISA::contract {

/// Floats from one row of a sum to the next: half of k, and 16 more, since rows a power of two apart would share cache
/// sets.
constexpr int64_t strassen_pitch(int64_t k) { return round_up(k / 2, 16) + 16; }

/// Rows of half a block, in whole tiles of mr.
constexpr int64_t strassen_rows(int64_t block, int64_t mr) { return round_up((block + 1) / 2, mr); }

/// Pairs of panels of nr columns: one in the left half of the columns, one in the right.
constexpr int64_t strassen_pairs(int64_t n, int64_t nr) { return (n + 2 * nr - 1) / (2 * nr); }

/// Packed weights: seven panels of half of k for each pair.
constexpr int64_t strassen_weights(int64_t k, int64_t n, int64_t nr) { return strassen_pairs(n, nr) * 7 * (k / 2) * nr; }

/// Scratch of a share: four sums of the halves of a block, and three quarters of the rows of its last tile; U and V of
/// a pair of panels, and one tile.
constexpr int64_t strassen_scratch(int64_t k, int64_t block, int64_t mr, int64_t nr) {
  const int64_t rows = strassen_rows(block, mr);
  return (4 * rows + 3 * mr) * strassen_pitch(k) + (2 * rows + mr) * nr;
}

}  // namespace onnxc::contract
