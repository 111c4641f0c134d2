// Tree ensembles a row at a time: several trees are walked at once, so that their chains of loads overlap.
#pragma once
#include "forest_ranks.hpp"

namespace onnxc::inline ONNXC_ISA::detail {

constexpr int kTreesAtOnce = 8;

/// A word's byte, which g++ loads by itself; by a shift of the word it would take a register more.
template <class Word>
ONNXC_INLINE uint8_t byte_of(const Word* word, std::size_t byte) {
  static_assert(std::endian::native == std::endian::little);
  return reinterpret_cast<const uint8_t*>(word)[byte];
}
/// Of a column, or of a leaf.
template <class Word>
ONNXC_INLINE uint32_t number_of(const Word* node) {
  return sizeof(Word) == 2 ? byte_of(node, 0) : node[0] & contract::kForestMostNumber<Word>;
}

/// nodes[i]: from the root of a tree to the leaf in which a row of these ranks ends. A leaf leads to itself, so a walk that has ended waits
/// for the others.
template <class Word>
ONNXC_INLINE void walk_trees(const Word* (&nodes)[kTreesAtOnce], const uint8_t* ranks) {
  const Word* at[kTreesAtOnce];
  for (int i = 0; i < kTreesAtOnce; ++i) {
    at[i] = nodes[i];
    asm("" : "+r"(at[i]));  // or g++ makes vectors of them, and keeps them in memory
  }
  for (uint64_t links = 1; links != 0;) {
    links = 0;
    for (int i = 0; i < kTreesAtOnce; ++i) {
      const Word link = at[i][1];
      // forest_walk_scratch has room for short numbers of leaves.
      const bool right = ranks[sizeof(Word) == 2 || link != 0 ? number_of(at[i]) : 0] > byte_of(at[i], sizeof(Word) - 1);
      links |= link;
      at[i] += 2 * (std::ptrdiff_t{link} + right);
      asm("" : "+r"(at[i]), "+r"(links));  // or g++ reorders the steps of the trees and runs out of registers
    }
  }
  for (int i = 0; i < kTreesAtOnce; ++i) nodes[i] = at[i];
}

/// The scores of one row. ranks: room for forest_walk_scratch bytes.
template <class Aggregate, class T, class Word, class X>
ONNXC_INLINE void forest_row(const FlatForest<T, Word>& forest, const X* x, uint8_t* ranks, T* scores) {
  const contract::ForestShape& s = forest.shape;
  for (int64_t c = 0; c < s.columns; ++c) {
    const ForestColumn column = forest.column(c);
    ranks[c] = rank_of(column_key<T>(x[column.feature], column.nan_right), column, forest.keys + column.first_key);
  }
  if (!contract::forest_is_wide(s))
    std::memset(ranks + s.columns, 0, static_cast<std::size_t>(max_of(s.most_leaves - s.columns, int64_t{0})));
  for (int64_t t = 0; t < s.targets; ++t) scores[t] = Aggregate::template first<T>();
  int32_t target = 0;  // whose score is in a register
  T score = scores[0];
  for (int64_t tree = 0; tree < s.trees; tree += kTreesAtOnce) {
    const int64_t trees = min_of(s.trees - tree, int64_t{kTreesAtOnce});
    const Word* nodes[kTreesAtOnce];
    for (int i = 0; i < kTreesAtOnce; ++i) {
      const int64_t one = tree + min_of(int64_t{i}, trees - 1);
      nodes[i] = forest.walk + 2 * contract::forest_walk_root(forest.first_node[one], one);
    }
    walk_trees(nodes, ranks);
    for (int64_t i = 0; i < trees; ++i) {
      const int64_t leaf = forest.first_node[tree + i] + tree + i + number_of(nodes[i]);
      if (forest.tree_target == nullptr && s.targets > 1) {
        for (int64_t t = 0; t < s.targets; ++t) scores[t] = Aggregate::next(scores[t], forest.values[leaf * s.targets + t]);
        continue;
      }
      if (forest.tree_target != nullptr && forest.tree_target[tree + i] != target) {
        scores[target] = score;
        target = forest.tree_target[tree + i];
        score = scores[target];
      }
      score = Aggregate::next(score, forest.values[leaf]);
    }
  }
  if (forest.tree_target != nullptr || s.targets == 1) scores[target] = score;
}

}  // namespace onnxc::inline ONNXC_ISA::detail
