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
#include "vec.hpp"

namespace onnxc::inline ONNXC_ISA {

/// What one column of ranks is made of: up to 255 of the thresholds by which one feature is tested.
struct ForestColumn {
  int32_t feature;
  int32_t first_key;   ///< its thresholds among FlatForest::keys
  int32_t first_test;  ///< its tests among those of all columns: one for each threshold, or one for a set
  int32_t count;
  bool nan_right;  ///< NaN exceeds every threshold, or none
  /// The keys are a set: the rank is 0 for a member, 1 for others.
  bool is_set;
};

/// Nodes, columns and keys are absent where a unit has none of the designs that read them.
template <class T>
using ForestKey = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;

/// Word: of the nodes that are walked.
template <class T, class Word>
struct FlatForest {
  /// For designs that walk. Two to a node, inner nodes and leaves together, breadth first, tree by tree, so that the two children of a node
  /// are neighbours: contract::forest_test of its column and of the rank that must be exceeded to go right, and how far behind it its left
  /// child is. For a leaf: forest_test of its number and the greatest rank, and 0.
  const Word* walk = nullptr;
  /// For the others; null: there are none. Four to an inner node, breadth first, tree by tree: column, rank, left child, right child. A
  /// child c >= 0 is an inner node of the tree, another one is leaf -1 - c.
  const int16_t* nodes = nullptr;
  const int32_t* first_node = nullptr;   ///< of each tree, and the end. A tree has at least one, and one leaf more.
  const T* values = nullptr;             ///< of all leaves, tree by tree: one, or one for each target
  const int32_t* tree_target = nullptr;  ///< the target of each tree, if leaves have one value; null: they have one for each target
  /// Four to a column: feature, first key, first test, and its number of keys with kForestNanRight and kForestSet.
  const int32_t* columns = nullptr;
  const ForestKey<T>* keys = nullptr;  ///< as contract::forest_keys says
  contract::ForestShape shape{};

  ForestColumn column(int64_t c) const {
    const int32_t* const p = columns + 4 * c;
    return {p[0], p[1], p[2], p[3] & contract::kForestRanks, (p[3] & contract::kForestNanRight) != 0, (p[3] & contract::kForestSet) != 0};
  }
};

namespace detail {

/// A vector at p, at any address. Not memcpy, which a compiler may turn into a move by way of the stack.
template <class V>
ONNXC_INLINE V load_vector(const void* p) {
  typedef V Anywhere __attribute__((aligned(1), may_alias));
  return *static_cast<const Anywhere*>(p);
}
template <class V>
ONNXC_INLINE void store_vector(void* p, V v) {
  typedef V Anywhere __attribute__((aligned(1), may_alias));
  *static_cast<Anywhere*>(p) = v;
}

/// The key of a value in that column: beyond all others where it is NaN.
template <class T, class X>
ONNXC_INLINE auto column_key(X value, bool nan_right) {
  using Key = ForestKey<T>;
  const T x = static_cast<T>(value);
  const Key nan = nan_right ? std::numeric_limits<Key>::max() - 1 : std::numeric_limits<Key>::min();  // the greatest fills up blocks
  return x != x ? nan : contract::forest_key(x);
}

/// How many of a block of 16 keys are less than x.
template <class Key>
ONNXC_INLINE int count_less(const Key* block, Key x) {
  int less = 0;
  if constexpr (sizeof(Key) == 4) {
    for (int i = 0; i < contract::kForestKeyBlock; i += Vec::width) {
      less += count(IntVec{load_vector<IntVec::Raw>(block + i)} < IntVec::all(x));
    }
  } else {
    for (int i = 0; i < contract::kForestKeyBlock; ++i) less += block[i] < x ? 1 : 0;
  }
  return less;
}

/// The rank of x: by the block it belongs to, then within that block.
template <class Key>
ONNXC_INLINE uint8_t rank_of(Key x, const ForestColumn& column, const Key* keys) {
  int rank = count_less(keys, x);
  if (column.count >= contract::kForestKeyBlock) {
    constexpr int kBlock = contract::kForestKeyBlock;
    rank = rank * kBlock + count_less(keys + kBlock + rank * kBlock, x);
  }
  if (!column.is_set) return static_cast<uint8_t>(rank);
  const bool member = keys[contract::forest_key_at(column.count, rank)] == x;
  return member || x == std::numeric_limits<Key>::min() ? 0 : 1;
}

/// A vector of keys. nvcc's front end (13.0) takes none that a function template makes for itself as a template argument.
template <class Key>
struct KeysOf {
  typedef Key Vector __attribute__((vector_size(contract::forest_vector_bytes(kVectorFloats))));
};

/// ranks[i] of x[i] for 64 rows, in a column of one block: a vector of rows is compared with each key.
template <class Key>
inline void rank_few(const Key* x, const ForestColumn& column, const Key* keys, uint8_t* ranks) {
  constexpr int kLanes = sizeof(typename KeysOf<Key>::Vector) / sizeof(Key), kAtOnce = 4;
  using Keys = typename KeysOf<Key>::Vector;
  static_assert(contract::kForestByteRows % (kAtOnce * kLanes) == 0);
  for (int64_t i = 0; i < contract::kForestByteRows; i += kAtOnce * kLanes) {
    Keys values[kAtOnce], less[kAtOnce]{};
    for (int v = 0; v < kAtOnce; ++v) values[v] = load_vector<Keys>(x + i + v * kLanes);
    for (int k = 0; k < column.count; ++k) {
      for (int v = 0; v < kAtOnce; ++v) less[v] -= values[v] > keys[k];
    }
    Key counts[kAtOnce * kLanes];
    for (int v = 0; v < kAtOnce; ++v) store_vector(counts + v * kLanes, less[v]);
    for (int j = 0; j < kAtOnce * kLanes; ++j) ranks[i + j] = static_cast<uint8_t>(counts[j]);
  }
}

/// ranks[column * pitch + row] of `rows` rows, at most 64. The ranks of rows up to 64 are some number. keys: room for 64.
template <class T, class Word, class X>
inline void rank_rows(const FlatForest<T, Word>& forest, const X* x, int64_t row_elements, int64_t rows, ForestKey<T>* keys, uint8_t* ranks,
                      int64_t pitch) {
  int32_t feature = -1;
  bool nan_right = false;
  for (int64_t c = 0; c < forest.shape.columns; ++c) {
    const ForestColumn column = forest.column(c);
    if (column.feature != feature || column.nan_right != nan_right) {
      feature = column.feature;
      nan_right = column.nan_right;
      for (int64_t i = 0; i < rows; ++i) keys[i] = column_key<T>(x[i * row_elements + feature], nan_right);
      for (int64_t i = rows; i < contract::kForestByteRows; ++i) keys[i] = std::numeric_limits<ForestKey<T>>::min();
    }
    uint8_t* const to = ranks + c * pitch;
    if (column.count < contract::kForestKeyBlock && !column.is_set) {
      rank_few(keys, column, forest.keys + column.first_key, to);
    } else {
      for (int64_t i = 0; i < rows; ++i) to[i] = rank_of(keys[i], column, forest.keys + column.first_key);
    }
  }
}

}  // namespace detail
}  // namespace onnxc::inline ONNXC_ISA
