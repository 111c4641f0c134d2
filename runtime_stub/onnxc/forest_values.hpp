// The values of leaves, looked up by their numbers, and how they become scores.
#pragma once
#include "forest_ranks.hpp"

namespace onnxc::inline ONNXC_ISA::detail {

struct ForestSum {
  template <class T>
  static constexpr T first() { return T(0); }
  template <class T>
  static ONNXC_INLINE T next(T score, T value) { return score + value; }
};
struct ForestMin {
  template <class T>
  static constexpr T first() { return std::numeric_limits<T>::infinity(); }
  template <class T>
  static ONNXC_INLINE T next(T score, T value) { return value < score ? value : score; }
};
struct ForestMax {
  template <class T>
  static constexpr T first() { return -std::numeric_limits<T>::infinity(); }
  template <class T>
  static ONNXC_INLINE T next(T score, T value) { return value > score ? value : score; }
};

/// scores[target * pitch + row] takes the value of leaf ids[row] of a tree, row < rows. The second bytes of numbers lie `pitch` after
/// the first.
template <int id_bytes, class Aggregate, class T>
inline void add_values(const FlatForest<T>& forest, int64_t tree, const uint8_t* ids, int64_t rows, int64_t pitch, T* scores) {
  const int64_t first = forest.first_node[tree] + tree;
  const auto add = [&](const T* values, int64_t step, T* to) ONNXC_INLINE_LAMBDA {
    for (int64_t row = 0; row < rows; ++row) {
      int64_t id = ids[row];
      if constexpr (id_bytes == 2) id += int64_t{ids[pitch + row]} << 8;
      to[row] = Aggregate::next(to[row], values[id * step]);
    }
  };
  if (forest.tree_target != nullptr) return add(forest.values + first, 1, scores + forest.tree_target[tree] * pitch);
  const int64_t targets = forest.shape.targets;
  for (int64_t t = 0; t < targets; ++t) add(forest.values + first * targets + t, targets, scores + t * pitch);
}

}  // namespace onnxc::inline ONNXC_ISA::detail
