// Tree ensembles by walks from roots to leaves, eight at once, so that their chains of loads overlap: of a row through eight trees, or of eight
// rows through a tree. A forest that does not fit a cache is better walked by rows, since a tree then stays there until all rows are done.
#pragma once
#include "forest_ranks.hpp"

namespace onnxc::inline ONNXC_ISA::detail {

constexpr int kWalksAtOnce = contract::kForestWalks;

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

/// nodes[i]: from the root of a tree to the leaf in which walk i ends, where rank_of(column, i) is what it compares. A leaf leads to itself, so
/// a walk that has ended waits for the others.
template <class Word, class RankOf>
ONNXC_INLINE void walk(const Word* (&nodes)[kWalksAtOnce], RankOf rank_of) {
  const Word* at[kWalksAtOnce];
  for (int i = 0; i < kWalksAtOnce; ++i) {
    at[i] = nodes[i];
    asm("" : "+r"(at[i]));  // or g++ makes vectors of them, and keeps them in memory
  }
  for (uint64_t links = 1; links != 0;) {
    links = 0;
    for (int i = 0; i < kWalksAtOnce; ++i) {
      const Word link = at[i][1];
      // There is room for short numbers of leaves among the ranks.
      const bool right = rank_of(sizeof(Word) == 2 || link != 0 ? number_of(at[i]) : 0, i) > byte_of(at[i], sizeof(Word) - 1);
      links |= link;
      at[i] += 2 * (std::ptrdiff_t{link} + right);
      asm("" : "+r"(at[i]), "+r"(links));  // or g++ reorders the steps of the trees and runs out of registers
    }
  }
  for (int i = 0; i < kWalksAtOnce; ++i) nodes[i] = at[i];
}

/// The scores of one row. ranks: room for forest_walk_scratch bytes.
template <class Aggregate, class T, class Word, class X>
ONNXC_INLINE void forest_row(const FlatForest<T, Word>& forest, const X* x, uint8_t* ranks, T* scores) {
  const contract::ForestShape& s = forest.shape;
  for (int64_t c = 0; c < s.columns; ++c) {
    const ForestColumn column = forest.column(c);
    ranks[c] = rank_of(column_key<T>(x[column.feature], column.nan_right), column, forest.keys + column.first_key);
  }
  std::memset(ranks + s.columns, 0, static_cast<std::size_t>(contract::forest_walk_numbers(s) - s.columns));
  for (int64_t t = 0; t < s.targets; ++t) scores[t] = Aggregate::template first<T>();
  int32_t target = 0;  // whose score is in a register
  T score = scores[0];
  for (int64_t tree = 0; tree < s.trees; tree += kWalksAtOnce) {
    const int64_t trees = min_of(s.trees - tree, int64_t{kWalksAtOnce});
    const Word* nodes[kWalksAtOnce];
    for (int i = 0; i < kWalksAtOnce; ++i) {
      const int64_t one = tree + min_of(int64_t{i}, trees - 1);
      nodes[i] = forest.walk + 2 * contract::forest_walk_root(forest.first_node[one], one);
    }
    walk(nodes, [&](uint32_t column, int) ONNXC_INLINE_LAMBDA { return ranks[column]; });
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

/// Scores of up to 64 rows: sums[target * 64 + row].
template <class Aggregate, class T, class Word, class X>
inline const T* forest_rows(const FlatForest<T, Word>& forest, const X* x, int64_t row_elements, int64_t rows, uint8_t* scratch) {
  constexpr int64_t kRows = contract::kForestByteRows;
  const contract::ForestShape& s = forest.shape;
  auto* const keys = reinterpret_cast<ForestKey<T>*>(scratch);
  auto* const sums = reinterpret_cast<T*>(keys + kRows);
  auto* const ranks = reinterpret_cast<uint8_t*>(sums + s.targets * kRows);
  rank_rows(forest, x, row_elements, rows, keys, ranks, kRows);
  std::memset(ranks + s.columns * kRows, 0, static_cast<std::size_t>((contract::forest_walk_numbers(s) - s.columns) * kRows));
  for (int64_t i = 0; i < s.targets * kRows; ++i) sums[i] = Aggregate::template first<T>();
  for (int64_t tree = 0; tree < s.trees; ++tree) {
    const int64_t first_leaf = forest.first_node[tree] + tree;
    for (int64_t row = 0; row < rows; row += kWalksAtOnce) {
      const Word* nodes[kWalksAtOnce];
      for (const Word*& node : nodes) node = forest.walk + 2 * contract::forest_walk_root(forest.first_node[tree], tree);
      walk(nodes, [ranks = ranks + row](uint32_t column, int i) ONNXC_INLINE_LAMBDA { return ranks[column * kRows + i]; });
      for (int64_t i = 0; i < min_of(rows - row, int64_t{kWalksAtOnce}); ++i) {
        const int64_t leaf = first_leaf + number_of(nodes[i]);
        T* const to = sums + row + i;
        if (forest.tree_target != nullptr) {
          T& score = to[forest.tree_target[tree] * kRows];
          score = Aggregate::next(score, forest.values[leaf]);
        } else {
          for (int64_t t = 0; t < s.targets; ++t) to[t * kRows] = Aggregate::next(to[t * kRows], forest.values[leaf * s.targets + t]);
        }
      }
    }
  }
  return sums;
}

}  // namespace onnxc::inline ONNXC_ISA::detail
