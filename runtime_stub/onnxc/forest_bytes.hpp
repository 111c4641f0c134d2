// Tree ensembles 64 rows at a time, without walking: each inner node is tested for all rows at once, children first, and selects
// for each row the leaf that its left or its right child has selected.
//
//   selected[node] = ranks[column] > rank ? selected[right] : selected[left]      64 rows, a byte each
//
// The last of these, the root, holds the numbers of the leaves in which the rows end. Trees of more than 256 leaves have numbers of
// two bytes, each of which is selected by the same test.
#pragma once
#include "forest_values.hpp"

namespace onnxc::inline ONNXC_ISA::detail {

typedef uint8_t Bytes __attribute__((vector_size(contract::forest_vector_bytes(kVectorFloats))));
template <int id_bytes>
inline void select_leaves(const int16_t* nodes, int64_t count, const uint8_t* ranks, uint8_t* selected) {
  constexpr int kRows = contract::kForestByteRows, kVectors = kRows / static_cast<int>(sizeof(Bytes)), kSlot = id_bytes * kRows;
  for (int64_t i = count - 1; i >= 0; --i) {
    const int16_t* const node = nodes + 4 * i;
    const uint8_t* const x = ranks + int64_t{static_cast<uint16_t>(node[0])} * kRows;
    const auto rank = static_cast<uint8_t>(node[1]);
    const uint8_t *const left = selected + int64_t{node[2]} * kSlot, *const right = selected + int64_t{node[3]} * kSlot;
    uint8_t* const to = selected + i * kSlot;
    for (int v = 0; v < kVectors; ++v) {
      const int at = v * static_cast<int>(sizeof(Bytes));
      const auto goes_right = load_vector<Bytes>(x + at) > rank;
      for (int b = 0; b < id_bytes; ++b) {
        const Bytes chosen = goes_right ? load_vector<Bytes>(right + b * kRows + at) : load_vector<Bytes>(left + b * kRows + at);
        store_vector(to + b * kRows + at, chosen);
      }
    }
  }
}

/// Scores of up to 64 rows: sums[target * 64 + row].
template <int id_bytes, class Aggregate, class T, class Word, class X>
inline const T* forest_bytes(const FlatForest<T, Word>& forest, const X* x, int64_t row_elements, int64_t rows, uint8_t* scratch) {
  constexpr int64_t kRows = contract::kForestByteRows;
  const contract::ForestShape& s = forest.shape;
  using Key = ForestKey<T>;
  auto* const keys = reinterpret_cast<Key*>(scratch);
  auto* const sums = reinterpret_cast<T*>(keys + kRows);
  uint8_t *const ranks = reinterpret_cast<uint8_t*>(sums + s.targets * kRows), *const leaves = ranks + s.columns * kRows;
  rank_rows(forest, x, row_elements, rows, keys, ranks, kRows);
  // Leaves count down to the nodes: leaf 0 lies just below node 0.
  uint8_t* const selected = leaves + s.most_leaves * id_bytes * kRows;
  for (int64_t leaf = 0; leaf < s.most_leaves; ++leaf) {
    for (int b = 0; b < id_bytes; ++b)
      std::memset(selected - (leaf + 1) * id_bytes * kRows + b * kRows, static_cast<int>(leaf >> (8 * b) & 255), kRows);
  }
  for (int64_t i = 0; i < s.targets * kRows; ++i) sums[i] = Aggregate::template first<T>();
  for (int64_t tree = 0; tree < s.trees; ++tree) {
    const int64_t first = forest.first_node[tree], count = forest.first_node[tree + 1] - first;
    select_leaves<id_bytes>(forest.nodes + 4 * first, count, ranks, selected);
    add_values<id_bytes, Aggregate>(forest, tree, selected, kRows, kRows, sums);
  }
  return sums;
}

}  // namespace onnxc::inline ONNXC_ISA::detail
