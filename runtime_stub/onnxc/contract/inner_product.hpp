// Winograd's inner product (fast_inner_product.hpp): the order of its steps, packed weights and copied rows.
#pragma once
#include "sizes.hpp"

namespace onnxc::inline ONNXC_ISA::contract {

/// Steps of k in a chunk: three vectors.
constexpr int64_t inner_product_chunk(int64_t lanes) { return 3 * lanes; }

/// How the steps of a chunk are divided into pairs, which take a product each, and single steps, which do too. There
/// are about as many of either.
struct StepGroups {
  int64_t pairs, singles;
  constexpr explicit StepGroups(int64_t steps) : pairs((steps + 1) / 3), singles(steps - 2 * pairs) {}
};

/// Calls visit(which, i) for the steps of k in the order in which a panel of weights has them. Step i is the second of
/// a pair (0), its first (1), or a single one (2).
template <class Visit>
ONNXC_INLINE constexpr void for_each_step(int64_t k, int64_t lanes, const Visit& visit) {
  const int64_t chunk = inner_product_chunk(lanes);
  for (int64_t from = 0; from < k; from += chunk) {
    const StepGroups steps(k - from < chunk ? k - from : chunk);
    const int64_t groups = steps.pairs < steps.singles ? steps.pairs : steps.singles, second = from + steps.pairs,
                  third = second + steps.pairs;
    for (int64_t g = 0; g < groups; ++g) visit(0, second + g), visit(1, from + g), visit(2, third + g);
    if (steps.pairs > groups) visit(0, second + groups), visit(1, from + groups);
    if (steps.singles > groups) visit(2, third + groups);
  }
}

/// Packed weights: panels of a vector of columns, each with k rows, a row of constants and a row of scales; then a
/// scale for each of the k, and zeros.
constexpr int64_t inner_product_weights(int64_t k, int64_t n, int64_t lanes) { return round_up(n, lanes) * (k + 2) + k + lanes; }

/// A copied row in whole chunks.
constexpr int64_t prepared_row(int64_t k, int64_t lanes) { return round_up(k, inner_product_chunk(lanes)); }
/// Floats from one copied row to the next, such that rows do not share sets of L1.
constexpr int64_t prepared_pitch(int64_t k, int64_t lanes) {
  const int64_t row = prepared_row(k, lanes);
  return row + (row % 64 == 0 ? lanes : 0);
}
/// Rows that there is room for: those of a block, and those by which tiles and copies of four go beyond it.
constexpr int64_t prepared_rows(int64_t block) { return block + 16; }
/// Scratch for `rows` rows: the copies, and behind all of them two numbers of each.
constexpr int64_t prepared_floats(int64_t k, int64_t rows, int64_t lanes) { return rows * (prepared_pitch(k, lanes) + 2); }

/// Scratch of a share that copies `block` rows at a time.
constexpr int64_t fast_inner_product_scratch(int64_t k, int64_t block, int64_t lanes) {
  return prepared_floats(k, prepared_rows(block), lanes);
}

}  // namespace onnxc::contract
