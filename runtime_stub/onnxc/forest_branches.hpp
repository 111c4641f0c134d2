// Tree ensembles a row at a time, as nested conditions: the unit has a type whose function `leaves` tests the features themselves.
//
//   ends(0, x.above(3, 0.8f) ? x.above(2, 4.95f) ? 2 : 1 : 0);      tree 0 ends in one of the leaves 0 to 2
//
// There are no ranks to compute and no nodes to load. A row costs what its tests cost and the branches that the processor does not
// predict, which suits forests of few nodes, and processors without vectors and caches.
#pragma once
#include "forest_ranks.hpp"

namespace onnxc::inline ONNXC_ISA::detail {

/// A row whose elements are tested by their bits. As signed integers, those of positive numbers have the order of the numbers, and those of negative
/// numbers are less. As unsigned integers, those of negative numbers have the opposite order, and are greater. NaN lies beyond either infinity.
template <class T, class X>
struct BranchRow {
  using Bits = ForestKey<T>;
  using Unsigned = std::make_unsigned_t<Bits>;
  static constexpr Bits kInfinity = std::bit_cast<Bits>(std::numeric_limits<T>::infinity()),
                        kMinusInfinity = std::bit_cast<Bits>(-std::numeric_limits<T>::infinity());
  const X* x;

  ONNXC_INLINE Bits bits(int64_t feature) const {
    auto b = std::bit_cast<Bits>(static_cast<T>(x[feature]));
    asm("" : "+r"(b));  // or g++ follows what each test says of the next ones, in much time and for more code
    return b;
  }
  static ONNXC_INLINE Unsigned as_unsigned(Bits b) { return static_cast<Unsigned>(b); }
  /// Whether b lies from `first` to `last`, by one comparison.
  static ONNXC_INLINE bool is_between(Bits b, Bits first, Bits last) {
    return as_unsigned(b) - as_unsigned(first) <= as_unsigned(last) - as_unsigned(first);
  }

  /// Whether an element is a number greater than the threshold, which is a number.
  ONNXC_INLINE bool above(int64_t feature, T threshold) const {
    const Bits b = bits(feature), t = std::bit_cast<Bits>(threshold);
    if (t == kInfinity) return false;
    return t >= 0 ? is_between(b, t + 1, kInfinity) : as_unsigned(b) < as_unsigned(t) && b <= kInfinity;
  }
  ONNXC_INLINE bool above_or_nan(int64_t feature, T threshold) const {
    const Bits b = bits(feature), t = std::bit_cast<Bits>(threshold);
    return t >= 0 ? b > t || as_unsigned(b) > as_unsigned(kMinusInfinity) : !is_between(b, t, kMinusInfinity);
  }
  /// Whether an element is a number, and none of these; zeros of both signs are two.
  template <class... Members>
  ONNXC_INLINE bool outside(int64_t feature, Members... members) const {
    const Bits b = bits(feature);
    return (b & std::numeric_limits<Bits>::max()) <= kInfinity && ((b != std::bit_cast<Bits>(static_cast<T>(members))) && ...);
  }
  template <class... Members>
  ONNXC_INLINE bool outside_or_nan(int64_t feature, Members... members) const {
    [[maybe_unused]] const Bits b = bits(feature);
    return ((b != std::bit_cast<Bits>(static_cast<T>(members))) && ...);
  }
};

/// leaves[tree]: the leaf in which the row ends, a number among those of all trees. On its own, or g++ copies all trees for cases of the loop
/// around it.
template <class Branches, class T, class X>
ONNXC_NOCLONE void branch_leaves(const X* x, uint16_t* leaves) {
  Branches::leaves(BranchRow<T, X>{x}, [=](int64_t tree, int32_t leaf) ONNXC_INLINE_LAMBDA {
    asm("" : "+r"(leaf));  // or g++ looks for what follows from each number
    leaves[tree] = static_cast<uint16_t>(leaf);
  });
}

/// The scores of one row. scratch: forest_branches_scratch bytes.
template <class Branches, class Aggregate, class T, class Word, class X>
ONNXC_INLINE void branch_row(const FlatForest<T, Word>& forest, const X* x, uint8_t* scratch, T* scores) {
  auto* const leaves = reinterpret_cast<uint16_t*>(scratch);
  branch_leaves<Branches, T>(x, leaves);
  const int64_t targets = forest.shape.targets;
  for (int64_t t = 0; t < targets; ++t) scores[t] = Aggregate::template first<T>();
  int32_t target = 0;  // whose score is in a register
  T score = scores[0];
  for (int64_t tree = 0; tree < forest.shape.trees; ++tree) {
    const T* const values = forest.values + leaves[tree] * (forest.tree_target == nullptr ? targets : 1);
    if (forest.tree_target == nullptr && targets > 1) {
      for (int64_t t = 0; t < targets; ++t) scores[t] = Aggregate::next(scores[t], values[t]);
      continue;
    }
    if (forest.tree_target != nullptr && forest.tree_target[tree] != target) {
      scores[target] = score;
      target = forest.tree_target[tree];
      score = scores[target];
    }
    score = Aggregate::next(score, values[0]);
  }
  if (forest.tree_target != nullptr || targets == 1) scores[target] = score;
}

}  // namespace onnxc::inline ONNXC_ISA::detail
