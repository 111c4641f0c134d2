// Tree ensembles a row at a time: several trees are walked at once, so that their chains of loads overlap.
#pragma once
#include "forest_ranks.hpp"

namespace onnxc::inline ONNXC_ISA::detail {

/// The child of a node that a row of these ranks goes to.
ONNXC_INLINE int64_t next_child(const int16_t* node, const uint8_t* ranks) {
  const bool right = ranks[static_cast<uint16_t>(node[0])] > static_cast<uint8_t>(node[1]);
  return node[2 + right];
}

/// leaves[tree]: the number of the leaf in which a row of these ranks ends. Children have greater numbers than their parent, and
/// leaves negative ones, so a walk stays at the last node before its leaf until the others have come as far.
template <class T>
inline void walk_trees(const FlatForest<T>& forest, const uint8_t* ranks, uint16_t* leaves) {
  constexpr int kAtOnce = 8;
  const int64_t last = forest.shape.trees - 1;
  for (int64_t tree = 0; tree <= last; tree += kAtOnce) {
    const int16_t* root[kAtOnce];
    int64_t at[kAtOnce] = {};
    for (int i = 0; i < kAtOnce; ++i) root[i] = forest.nodes + 4 * int64_t{forest.first_node[tree + i < last ? tree + i : last]};
    for (int64_t all = 0; all >= 0;) {
      all = -1;
      for (int i = 0; i < kAtOnce; ++i) {
        asm("" : "+r"(at[i]));  // or g++ loads what lies there one step ahead, into registers of which there are too few
        const int64_t child = next_child(root[i] + 4 * at[i], ranks);
        at[i] = max_of(at[i], child);
        all &= child;
      }
    }
    for (int i = 0; i < kAtOnce && tree + i <= last; ++i)
      leaves[tree + i] = static_cast<uint16_t>(-1 - next_child(root[i] + 4 * at[i], ranks));
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
