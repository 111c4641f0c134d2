// The values of leaves, looked up by their numbers, and how they become scores.
#pragma once
#include "forest_ranks.hpp"
#include "vec_integers.hpp"

namespace onnxc::inline ONNXC_ISA::detail {

struct ForestSum {
  template <class T>
  static constexpr T first() {
    return T(0);
  }
  template <class T>
  static ONNXC_INLINE T next(T score, T value) {
    return score + value;
  }
};
struct ForestMin {
  template <class T>
  static constexpr T first() {
    return std::numeric_limits<T>::infinity();
  }
  template <class T>
  static ONNXC_INLINE T next(T score, T value) {
    return value < score ? value : score;
  }
  static ONNXC_INLINE Vec next(Vec score, Vec value) { return min(value, score); }
};
struct ForestMax {
  template <class T>
  static constexpr T first() {
    return -std::numeric_limits<T>::infinity();
  }
  template <class T>
  static ONNXC_INLINE T next(T score, T value) {
    return value > score ? value : score;
  }
  static ONNXC_INLINE Vec next(Vec score, Vec value) { return max(value, score); }
};

/// Pairs of vectors in which the values of a tree's leaves are looked up; 0 where the machine has no instruction for that.
#if defined(__AVX512F__) && !defined(ONNXC_NO_INTRINSICS)
constexpr int kForestPairs = 8;
#elif defined(__AVX2__) && !defined(ONNXC_NO_INTRINSICS)
constexpr int kForestPairs = 4;
#else
constexpr int kForestPairs = 0;
#endif

/// to[row] takes values[ids[row]], where ids are less than `leaves`, at most 2 * pairs vectors of them. Rows are a multiple of 64.
template <int pairs, class Aggregate>
inline void look_up(const float* values, int64_t leaves, const uint8_t* ids, int64_t rows, float* to) {
  constexpr int kPair = 2 * Vec::width;
  Vec low[pairs], high[pairs];
  const auto load = [&](int64_t from)
                        ONNXC_INLINE_LAMBDA { return Vec::load(values + from, max_of(0, min_of(leaves - from, Vec::width))); };
  for (int k = 0; k < pairs; ++k) {
    low[k] = load(k * kPair);
    high[k] = load(k * kPair + Vec::width);
  }
  for (int64_t row = 0; row < rows; row += Vec::width) {
    const IntVec id = load_whole(ids + row).lanes;
    Vec value = pick(low[0], high[0], from_bits(id));
    ONNXC_UNROLL
    for (int k = 1; k < pairs; ++k) value = select(IntVec::all(k * kPair - 1) < id, pick(low[k], high[k], from_bits(id)), value);
    Aggregate::next(Vec::load(to + row), value).store(to + row);
  }
}

/// scores[target * pitch + row] takes the value of leaf ids[row] of a tree. Rows are a multiple of 64. The second bytes of numbers lie `pitch`
/// after the first.
template <int id_bytes, class Aggregate, class T, class Word>
inline void add_values(const FlatForest<T, Word>& forest, int64_t tree, const uint8_t* ids, int64_t rows, int64_t pitch, T* scores) {
  const int64_t first = forest.first_node[tree] + tree, leaves = forest.first_node[tree + 1] - forest.first_node[tree] + 1;
  const auto add = [&](const T* values, int64_t step, T* to) {
    if constexpr (sizeof(T) == 4 && id_bytes == 1 && kForestPairs > 0) {
      constexpr int64_t kPair = 2 * Vec::width;
      float dense[(kForestPairs + 1) * kPair];  // one more, for machines that have none
      if (leaves <= kForestPairs * kPair && (step == 1 || 2 * leaves <= rows)) {
        for (int64_t i = 0; step > 1 && i < leaves; ++i) dense[i] = values[i * step];
        const float* const from = step > 1 ? dense : values;
        if (leaves <= kPair) return look_up<1, Aggregate>(from, leaves, ids, rows, to);
        if (leaves <= 2 * kPair) return look_up<2, Aggregate>(from, leaves, ids, rows, to);
        if (leaves <= 4 * kPair) return look_up<4, Aggregate>(from, leaves, ids, rows, to);
        return look_up<kForestPairs, Aggregate>(from, leaves, ids, rows, to);
      }
    }
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
