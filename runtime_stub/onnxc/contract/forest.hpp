// Tree ensembles as flat tables: what planners lay out and reserve for runtime_stub/onnxc/forest.hpp. Sizes are in bytes.
#pragma once
#include "sizes.hpp"

namespace onnxc::inline ONNXC_ISA::contract {

/// Thresholds of a column at most, so that ranks are bytes.
constexpr int32_t kForestRanks = 255;
/// Beside the number of thresholds of a column: NaN exceeds all of them; they are a set.
constexpr int32_t kForestNanRight = 256, kForestSet = 512;
/// Leaves of a tree at most, for designs that take rows by blocks: children are indices of 16 bits, inner nodes from 0 on, leaf i as -1 - i.
constexpr int64_t kForestBlockLeaves = 32768;

/// A node that is walked has two words of 16 bits where columns and leaves have numbers of 8, or else two of 32 bits. The first has the
/// number in its lower bits and a rank in its upper 8.
template <class Word>
constexpr int kForestNumberBits = 8 * static_cast<int>(sizeof(Word)) - 8;
template <class Word>
constexpr Word kForestMostNumber = static_cast<Word>((Word{1} << kForestNumberBits<Word>)-1);
template <class Word>
constexpr Word forest_test(int64_t number, int64_t rank) {
  return static_cast<Word>(number | rank << kForestNumberBits<Word>);
}
/// Where the walk of a tree starts, in nodes: those before it have one leaf more than inner nodes.
constexpr int64_t forest_walk_root(int64_t first_node, int64_t tree) { return 2 * first_node + tree; }
/// The integer by which a number is compared: of the same order, but that -0 is before 0. NaN has none. On bits, the function is its own
/// inverse.
constexpr int32_t forest_key(float x) {
  const auto bits = __builtin_bit_cast(int32_t, x);
  return bits ^ static_cast<int32_t>(static_cast<uint32_t>(bits >> 31) >> 1);
}
constexpr int64_t forest_key(double x) {
  const auto bits = __builtin_bit_cast(int64_t, x);
  return bits ^ static_cast<int64_t>(static_cast<uint64_t>(bits >> 63) >> 1);
}

/// Keys of a column, `count` of them, lie in blocks of 16, filled up with the greatest integer, and with at least one of these. Where there
/// are several blocks, one with the last key of each comes before them.
constexpr int64_t kForestKeyBlock = 16;
constexpr int64_t forest_key_blocks(int64_t count) { return count / kForestKeyBlock + 1; }
constexpr int64_t forest_keys(int64_t count) {
  const int64_t blocks = forest_key_blocks(count);
  return kForestKeyBlock * (blocks > 1 ? blocks + 1 : 1);
}
/// Where key k lies.
constexpr int64_t forest_key_at(int64_t count, int64_t k) { return forest_key_blocks(count) > 1 ? kForestKeyBlock + k : k; }

/// Lays out the ascending keys of a column in the forest_keys(count) elements of `to`.
template <class Key>
constexpr void lay_out_forest_keys(const Key* keys, int64_t count, Key greatest, Key* to) {
  for (int64_t i = 0; i < forest_keys(count); ++i) to[i] = greatest;
  for (int64_t k = 0; k < count; ++k) to[forest_key_at(count, k)] = keys[k];
  for (int64_t b = 0; forest_key_blocks(count) > 1 && b < forest_key_blocks(count); ++b)
    to[b] = to[forest_key_at(count, kForestKeyBlock * (b + 1) - 1)];
}

/// Walks that are done at once.
constexpr int kForestWalks = 8;
/// Rows that are walked by blocks, and that the design with a byte for each row takes at once.
constexpr int64_t kForestByteRows = 64;
/// Bytes that forests take at once: those of a vector, or of a word of 64 bits where that is more.
constexpr int64_t forest_vector_bytes(int64_t lanes) { return lanes < 2 ? 8 : 4 * lanes; }
/// Rows that the design with a bit for each row takes at once: the bits of these.
constexpr int64_t forest_bit_rows(int64_t lanes) { return 8 * forest_vector_bytes(lanes); }

struct ForestShape {
  int64_t trees, columns, tests;  ///< tests: the thresholds of all columns
  int64_t most_leaves;            ///< of a tree
  int64_t targets;
  int64_t number_bytes;  ///< of a score: 4 or 8
};

/// Whether nodes that are walked have words of 32 bits.
constexpr bool forest_is_wide(const ForestShape& s) { return max(s.columns, s.most_leaves) > kForestMostNumber<uint16_t> + 1; }
/// Bytes of a leaf's number in a block.
constexpr int64_t forest_id_bytes(const ForestShape& s) { return s.most_leaves > 256 ? 2 : 1; }

constexpr int64_t forest_area(int64_t bytes) { return round_up(bytes, 64); }

// Areas of the scratch memory, in their order.

/// The numbers for which walks read a rank: those of columns and, where they have 8 bits, of leaves.
constexpr int64_t forest_walk_numbers(const ForestShape& s) { return max(s.columns, forest_is_wide(s) ? 0 : s.most_leaves); }
/// A row at a time: its ranks.
constexpr int64_t forest_walk_scratch(const ForestShape& s) { return forest_area(forest_walk_numbers(s)); }
/// Rows by blocks: keys of a feature; sums; ranks.
constexpr int64_t forest_rows_scratch(const ForestShape& s) {
  return kForestByteRows * (s.number_bytes * (1 + s.targets) + forest_walk_numbers(s));
}
/// Keys of a feature; ranks; the leaf below each node; sums.
constexpr int64_t forest_bytes_scratch(const ForestShape& s) {
  return kForestByteRows * (s.number_bytes + s.columns + 2 * s.most_leaves * forest_id_bytes(s) + s.targets * s.number_bytes);
}
/// Keys of a feature; ranks; rows by rank; which rows fail each test; which rows reach each node; leaves' numbers by bits and
/// by bytes; sums.
constexpr int64_t forest_bits_scratch(const ForestShape& s, int64_t lanes) {
  const int64_t rows = forest_bit_rows(lanes), mask = rows / 8;
  return rows * (s.columns + 2 + s.targets * s.number_bytes) + kForestByteRows * s.number_bytes +
         mask * (kForestRanks + 1 + s.tests + 2 * s.most_leaves + 8 + 16);
}

/// Nested conditions: the leaf of each tree.
constexpr int64_t forest_branches_scratch(const ForestShape& s) { return forest_area(2 * s.trees); }

/// Scratch of a share for the designs that are used, and the scores of a row. branches: instead of walks of rows by themselves. rows: blocks are
/// walked.
constexpr int64_t forest_scratch(const ForestShape& s, int64_t lanes, bool branches, bool rows, bool bytes, bool bits) {
  int64_t most = branches ? forest_branches_scratch(s) : forest_walk_scratch(s);
  if (rows) most = max(most, forest_rows_scratch(s));
  if (bytes) most = max(most, forest_bytes_scratch(s));
  if (bits) most = max(most, forest_bits_scratch(s, lanes));
  return forest_area(s.targets * s.number_bytes) + forest_area(s.targets) + most;
}

}  // namespace onnxc::contract
