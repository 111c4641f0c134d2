// Tree ensembles a row at a time: several trees are walked at once, so that their chains of loads overlap.
#pragma once
#include "forest_ranks.hpp"

namespace onnxc::inline ONNXC_ISA::detail {

/// leaves[tree]: the number of the leaf in which a row of these ranks ends.
template <class T>
inline void walk_trees(const FlatForest<T>& forest, const uint8_t* ranks, uint16_t* leaves) {
  constexpr int kAtOnce = 8;
  const int64_t last = forest.shape.trees - 1;
  for (int64_t tree = 0; tree <= last; tree += kAtOnce) {
    int64_t first[kAtOnce];
    int32_t at[kAtOnce];
    for (int i = 0; i < kAtOnce; ++i) {
      const int64_t t = tree + i < last ? tree + i : last;
      first[i] = forest.first_node[t];
      at[i] = forest.first_node[t + 1] > first[i] ? 0 : -1;
    }
    for (int32_t all = 0; all >= 0;) {
      all = -1;
      for (int i = 0; i < kAtOnce; ++i) {
        uint64_t node = 0;  // a leaf reads the tree's first node, and stays
        std::memcpy(&node, forest.nodes + 4 * (first[i] + (at[i] & ~(at[i] >> 31))), sizeof node);
        const bool right = ranks[node & 0xffff] > (node >> 16 & 0xffff);
        const auto next = static_cast<int16_t>(node >> (right ? 48 : 32));
        at[i] = at[i] < 0 ? at[i] : next;
        all &= at[i];
      }
    }
    for (int i = 0; i < kAtOnce && tree + i <= last; ++i) leaves[tree + i] = static_cast<uint16_t>(-1 - at[i]);
  }
}

/// The scores of one row.
template <class Aggregate, class T, class X>
inline void forest_row(const FlatForest<T>& forest, const X* x, uint8_t* scratch, T* scores) {
  const contract::ForestShape& s = forest.shape;
  uint8_t* const ranks = scratch;
  auto* const leaves = reinterpret_cast<uint16_t*>(scratch + contract::forest_area(s.columns));
  for (int64_t c = 0; c < s.columns; ++c) {
    const ForestColumn column = forest.column(c);
    ranks[c] = rank_of(column_key<T>(x[column.feature], column.nan_right), column, forest.keys + column.first_key);
  }
  walk_trees(forest, ranks, leaves);
  for (int64_t t = 0; t < s.targets; ++t) scores[t] = Aggregate::template first<T>();
  for (int64_t tree = 0; tree < s.trees; ++tree) {
    const int64_t leaf = forest.first_node[tree] + tree + leaves[tree];
    if (forest.tree_target != nullptr) {
      T& score = scores[forest.tree_target[tree]];
      score = Aggregate::next(score, forest.values[leaf]);
    } else {
      for (int64_t t = 0; t < s.targets; ++t) scores[t] = Aggregate::next(scores[t], forest.values[leaf * s.targets + t]);
    }
  }
}

}  // namespace onnxc::inline ONNXC_ISA::detail
