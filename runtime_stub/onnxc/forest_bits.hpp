// Tree ensembles with a bit for each row, as many rows at a time as a vector has bits.
//
//   fails[test]       the rows whose rank exceeds the test's threshold; each test is made once for all trees
//   reach[left]  = reach[node] & ~fails[test]
//   reach[right] = reach[node] &  fails[test]
//
// from the root on: two operations of logic take all rows past a node. Each row reaches one leaf of a tree. The masks of the leaves
// are folded into the bits of the leaves' numbers, which are spread to bytes.
#pragma once
#include <utility>

#include "forest_bytes.hpp"

namespace onnxc::inline ONNXC_ISA::detail {

typedef uint64_t Bits __attribute__((vector_size(contract::forest_vector_bytes(kVectorFloats))));
constexpr int64_t kMaskBytes = sizeof(Bits), kBitRows = 8 * kMaskBytes;
static_assert(kBitRows == contract::forest_bit_rows(kVectorFloats));

/// fails[k]: the rows whose rank exceeds k, k < tests. by_rank: room for tests + 1 masks.
inline void mask_ranks(const uint8_t* ranks, int64_t rows, int64_t tests, uint8_t* by_rank, uint8_t* fails) {
  std::memset(by_rank, 0, static_cast<std::size_t>((tests + 1) * kMaskBytes));
  for (int64_t i = 0; i < rows; ++i) {
    uint8_t& byte = by_rank[ranks[i] * kMaskBytes + (i >> 3)];
    byte = static_cast<uint8_t>(byte | 1 << (i & 7));
  }
  Bits above{};
  for (int64_t k = tests; k > 0; --k) {
    above |= load_vector<Bits>(by_rank + k * kMaskBytes);
    store_vector(fails + (k - 1) * kMaskBytes, above);
  }
}

/// reach[child] of all nodes of a tree, from reach[0] on.
ONNXC_INLINE void reach_leaves(const int16_t* nodes, int64_t count, const int32_t* columns, const uint8_t* fails, uint8_t* reach) {
  for (int64_t i = 0; i < count; ++i) {
    const int16_t* const node = nodes + 4 * i;
    const Bits failed = load_vector<Bits>(fails + (columns[4 * static_cast<uint16_t>(node[0]) + 2] + node[1]) * kMaskBytes);
    const Bits here = load_vector<Bits>(reach + i * kMaskBytes);
    store_vector(reach + node[2] * kMaskBytes, here & ~failed);
    store_vector(reach + node[3] * kMaskBytes, here & failed);
  }
}

/// Bit b of the numbers of the leaves that the rows reach: planes[b], b < 8 * id_bytes. Leaf i lies at reach - (i + 1) masks, and the masks
/// of leaves up to the next multiple of eight are zero.
template <int id_bytes>
ONNXC_INLINE void fold_leaves(const uint8_t* reach, int64_t leaves, Bits* planes) {
  for (int b = 0; b < 8 * id_bytes; ++b) planes[b] = Bits{};
  for (int64_t i = 0; i < leaves; i += 8) {
    Bits leaf[8];
    for (int k = 0; k < 8; ++k) leaf[k] = load_vector<Bits>(reach - (i + k + 1) * kMaskBytes);
    const Bits last = leaf[6] | leaf[7], upper = leaf[4] | leaf[5] | last;
    planes[0] |= leaf[1] | leaf[3] | leaf[5] | leaf[7];
    planes[1] |= leaf[2] | leaf[3] | last;
    planes[2] |= upper;
    const Bits all = leaf[0] | leaf[1] | leaf[2] | leaf[3] | upper;
    for (int b = 3; b < 8 * id_bytes; ++b) planes[b] |= all & -static_cast<uint64_t>(i >> b & 1);
  }
}

/// Lane i is lane i / 8 of x.
template <int... lane>
ONNXC_INLINE Bytes eightfold(Bytes x, std::integer_sequence<int, lane...>) {
  return shuffle<(lane / 8)...>(x, x);
}

/// bytes[row]: the bits of the row in eight planes.
ONNXC_INLINE void spread_planes(const Bits* planes, int count, uint8_t* bytes) {
  constexpr int kLanes = static_cast<int>(sizeof(Bytes));  // rows at once
  constexpr int64_t kGroups = kBitRows / kLanes;
  uint8_t bits[8][kMaskBytes];
  for (int b = 0; b < count; ++b) store_vector(bits[b], planes[b]);
  Bytes bit;
  std::memset(&bit, 0, sizeof bit);
  for (int i = 0; i < kLanes; ++i) bit[i] = static_cast<uint8_t>(1 << (i % 8));
  for (int64_t g = 0; g < kGroups; ++g) {
    Bytes id{};
    for (int b = 0; b < count; ++b) {
      uint64_t here = 0;
      std::memcpy(&here, bits[b] + g * kLanes / 8, kLanes / 8);
      const Bytes of_row = eightfold((Bytes)(Bits{} + here), std::make_integer_sequence<int, kLanes>{});
      const auto value = static_cast<uint8_t>(1 << b);
      id |= (Bytes)((of_row & bit) != 0) & value;
    }
    store_vector(bytes + g * kLanes, id);
  }
}

/// Scores of up to kBitRows rows: sums[target * kBitRows + row].
template <int id_bytes, class Aggregate, class T, class Word, class X>
inline const T* forest_bits(const FlatForest<T, Word>& forest, const X* x, int64_t row_elements, int64_t rows, uint8_t* scratch) {
  const contract::ForestShape& s = forest.shape;
  using Key = ForestKey<T>;
  auto* const keys = reinterpret_cast<Key*>(scratch);
  auto* const sums = reinterpret_cast<T*>(keys + contract::kForestByteRows);
  uint8_t *const ranks = reinterpret_cast<uint8_t*>(sums + s.targets * kBitRows), *const ids = ranks + s.columns * kBitRows;
  uint8_t *const by_rank = ids + 2 * kBitRows, *const fails = by_rank + (contract::kForestRanks + 1) * kMaskBytes;
  uint8_t* const reach = fails + (s.tests + s.most_leaves + 8) * kMaskBytes;
  for (int64_t i = 0; i < rows; i += contract::kForestByteRows)
    rank_rows(forest, x + i * row_elements, row_elements, min_of(rows - i, contract::kForestByteRows), keys, ranks + i, kBitRows);
  for (int64_t c = 0; c < s.columns; ++c) {
    const ForestColumn column = forest.column(c);
    mask_ranks(ranks + c * kBitRows, rows, column.is_set ? 1 : column.count, by_rank, fails + column.first_test * kMaskBytes);
  }
  const int64_t padded = contract::round_up(rows, contract::kForestByteRows);
  for (int64_t i = 0; i < s.targets * kBitRows; ++i) sums[i] = Aggregate::template first<T>();
  for (int64_t tree = 0; tree < s.trees; ++tree) {
    const int64_t first = forest.first_node[tree], count = forest.first_node[tree + 1] - first, leaves = count + 1;
    for (int64_t i = leaves; i % 8 != 0; ++i) store_vector(reach - (i + 1) * kMaskBytes, Bits{});
    store_vector(reach, ~Bits{});
    reach_leaves(forest.nodes + 4 * first, count, forest.columns, fails, reach);
    Bits planes[8 * id_bytes];
    fold_leaves<id_bytes>(reach, leaves, planes);
    int bits = 1;
    while (bits < 8 && leaves > int64_t{1} << bits) ++bits;
    spread_planes(planes, bits, ids);
    if constexpr (id_bytes == 2) spread_planes(planes + 8, 8, ids + kBitRows);
    add_values<id_bytes, Aggregate>(forest, tree, ids, padded, kBitRows, sums);
  }
  return sums;
}

}  // namespace onnxc::inline ONNXC_ISA::detail
