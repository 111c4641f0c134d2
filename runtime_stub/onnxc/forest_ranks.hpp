// Features as ranks: the number of a column's thresholds that a value exceeds, as a byte.
//
// Every test of a flat forest asks whether a rank is greater than a number. Thresholds are compared as integers whose
// order is that of the floats, so subnormal numbers, infinities and zeros of both signs need no care. The compiler has turned all
// comparisons into `x > threshold`, by the neighbouring float where need be.
#pragma once
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base.hpp"
#include "contract/forest.hpp"

namespace onnxc::inline ONNXC_ISA {

/// What one column of ranks is made of: up to 255 of the thresholds by which one feature is tested.
struct ForestColumn {
  int32_t feature;
  int32_t first_key;   ///< its thresholds in FlatForest::keys, ascending
  int32_t first_test;  ///< its tests among those of all columns: one for each threshold, or one for a set
  int32_t count;
  bool nan_right;  ///< NaN exceeds every threshold, or none
  /// The keys are a set: the rank is 0 for a member, 1 for others.
  bool is_set;
};

template <class T>
struct FlatForest {
  using Key = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
  /// Four to an inner node, breadth first, tree by tree: column, rank that must be exceeded to go right, left child, right child. A
  /// child c >= 0 is an inner node of the tree, another one is leaf -1 - c.
  const int16_t* nodes = nullptr;
  const int32_t* first_node = nullptr;  ///< of each tree, and the end. A tree has one leaf more than inner nodes.
  const T* values = nullptr;            ///< of all leaves, tree by tree: one, or one for each target
  const int32_t* tree_target = nullptr;  ///< the target of each tree, if leaves have one value; null: they have one for each target
  /// Four to a column: feature, first key, first test, and its number of keys with kForestNanRight and kForestSet.
  const int32_t* columns = nullptr;
  const Key* keys = nullptr;
  contract::ForestShape shape{};

  ForestColumn column(int64_t c) const {
    const int32_t* const p = columns + 4 * c;
    return {p[0],
            p[1],
            p[2],
            p[3] & contract::kForestRanks,
            (p[3] & contract::kForestNanRight) != 0,
            (p[3] & contract::kForestSet) != 0};
  }
};

namespace detail {

/// An integer of the same order as x.
template <class T>
ONNXC_INLINE auto key_of(T x) {
  using Key = typename FlatForest<T>::Key;
  const Key bits = std::bit_cast<Key>(x);
  return static_cast<Key>(bits ^ static_cast<Key>(static_cast<std::make_unsigned_t<Key>>(bits >> (8 * sizeof(Key) - 1)) >> 1));
}

/// The key of a value in that column: beyond all others where it is NaN.
template <class T, class X>
ONNXC_INLINE auto column_key(X value, bool nan_right) {
  using Key = typename FlatForest<T>::Key;
  const T x = static_cast<T>(value);
  const Key nan = nan_right ? std::numeric_limits<Key>::max() : std::numeric_limits<Key>::min();
  return x != x ? nan : key_of(x);
}

/// The number of keys below x, without a branch that depends on x.
template <class Key>
ONNXC_INLINE int count_below(Key x, const Key* keys, int count) {
  int below = 0;
  while (count > 0) {
    const int half = (count + 1) / 2;
    below += keys[below + half - 1] < x ? half : 0;
    count -= half;
  }
  return below;
}

template <class Key>
ONNXC_INLINE uint8_t rank_of(Key x, const ForestColumn& column, const Key* keys) {
  const int below = count_below(x, keys, column.count);
  if (!column.is_set) return static_cast<uint8_t>(below);
  const bool left = x == std::numeric_limits<Key>::min() || (below < column.count && keys[below] == x);
  return left ? 0 : 1;
}

/// Columns of more thresholds are searched, others compare all of them with a vector of rows.
constexpr int kForestCounted = 8 * kVectorFloats;

/// ranks[i] of x[i], i < rows, which is a multiple of 64.
template <class Key>
inline void rank_keys(const Key* x, int64_t rows, const ForestColumn& column, const Key* keys, uint8_t* ranks) {
  constexpr int kLanes = 4 * kVectorFloats / static_cast<int>(sizeof(Key));
  typedef Key Keys __attribute__((vector_size(4 * kVectorFloats)));
  typedef uint8_t Ranks __attribute__((vector_size(kLanes)));
  if (column.is_set || column.count > kForestCounted) {
    for (int64_t i = 0; i < rows; ++i) ranks[i] = rank_of(x[i], column, keys);
    return;
  }
  constexpr int kAtOnce = 4;
  static_assert(contract::kForestByteRows % (kAtOnce * kLanes) == 0);
  for (int64_t i = 0; i < rows; i += kAtOnce * kLanes) {
    Keys values[kAtOnce], below[kAtOnce]{};
    std::memcpy(values, x + i, sizeof values);
    for (int k = 0; k < column.count; ++k) {
      for (int v = 0; v < kAtOnce; ++v) below[v] -= values[v] > keys[k];
    }
    for (int v = 0; v < kAtOnce; ++v) {
      const Ranks narrow = __builtin_convertvector(below[v], Ranks);
      std::memcpy(ranks + i + v * kLanes, &narrow, sizeof narrow);
    }
  }
}

/// Whether values have the same keys in two columns.
ONNXC_INLINE bool same_keys(const ForestColumn& a, const ForestColumn& b) { return a.feature == b.feature && a.nan_right == b.nan_right; }

/// The keys of `count` rows of a feature; rows up to `padded` have the least key.
template <class T, class X>
inline void column_keys(const X* x, int64_t row_elements, const ForestColumn& column, int64_t count, int64_t padded,
                        typename FlatForest<T>::Key* keys) {
  for (int64_t i = 0; i < count; ++i) keys[i] = column_key<T>(x[i * row_elements + column.feature], column.nan_right);
  for (int64_t i = count; i < padded; ++i) keys[i] = std::numeric_limits<typename FlatForest<T>::Key>::min();
}

}  // namespace detail
}  // namespace onnxc::inline ONNXC_ISA
