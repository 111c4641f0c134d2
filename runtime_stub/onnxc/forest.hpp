// Tree ensembles as flat tables. Four designs compute the same scores, and the numbers of nodes and of rows decide between them:
//
//   forest_branches.hpp  few nodes, few rows: a row at a time, by nested conditions
//   forest_walk.hpp      few rows: a row at a time, eight trees at once; or a large forest: a tree at a time, eight rows at once
//   forest_bytes.hpp     some 10 to 200 rows: every node for 64 rows at once, a byte for each row
//   forest_bits.hpp      more rows: every node for as many rows as a vector has bits
//
// Scores are added up tree by tree, in the order of the model, by all of them, as by scalar/ml/trees.hpp.
#pragma once
#include <type_traits>

#include "forest_bits.hpp"
#include "forest_branches.hpp"
#include "forest_walk.hpp"
#include "scalar/ml/trees.hpp"

namespace onnxc::inline ONNXC_ISA {

/// Where a design takes over, in rows; kNever: not at all.
struct ForestDesigns {
  static constexpr int64_t kNever = INT64_MAX;
  int64_t rows_from = kNever, bytes_from = kNever, bits_from = kNever;
};

/// In the place of nested conditions: there are none, and rows by themselves are walked.
struct ForestWalk {};

namespace detail {

template <scalar::TreeAggregate aggregate>
using ForestAggregate =
    std::conditional_t<aggregate == scalar::TreeAggregate::min, ForestMin,
                       std::conditional_t<aggregate == scalar::TreeAggregate::max, ForestMax, ForestSum>>;  // an average is a sum first

/// Calls finish(row, scores) for each row of the share, with scores[targets].
template <ForestDesigns designs, int id_bytes, class Aggregate, class Branches, class T, class Word, class X, class Finish>
inline void for_each_row(Share share, Tensor<const X> x, const FlatForest<T, Word>& forest, uint8_t* scratch, Finish finish) {
  const contract::ForestShape& s = forest.shape;
  const int64_t width = x.shape[1], rows = x.shape[0];
  auto* const scores = reinterpret_cast<T*>(scratch);
  uint8_t* const area = scratch + contract::forest_area(s.targets * s.number_bytes) + contract::forest_area(s.targets);
  const int64_t own = rows / share.count;
  const auto [begin, end] = share.slice(rows, own >= designs.bytes_from  ? contract::kForestByteRows
                                              : own >= designs.rows_from ? int64_t{contract::kForestWalks}
                                                                         : 1);
  const auto finish_block = [&](int64_t first, int64_t count, const T* sums, int64_t pitch) {
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t t = 0; t < s.targets; ++t) scores[t] = sums[t * pitch + i];
      finish(first + i, scores);
    }
  };
  for (int64_t row = begin; row < end;) {
    const int64_t left = end - row;
    const X* const from = x.data + row * width;
    int64_t done = 1;
    if (left >= designs.bits_from) {
      done = min_of(left, kBitRows);
      if constexpr (designs.bits_from != ForestDesigns::kNever)
        finish_block(row, done, forest_bits<id_bytes, Aggregate>(forest, from, width, done, area), kBitRows);
    } else if (left >= designs.bytes_from) {
      done = min_of(left, contract::kForestByteRows);
      if constexpr (designs.bytes_from != ForestDesigns::kNever)
        finish_block(row, done, forest_bytes<id_bytes, Aggregate>(forest, from, width, done, area), contract::kForestByteRows);
    } else if (left >= designs.rows_from) {
      done = min_of(left, contract::kForestByteRows);
      if constexpr (designs.rows_from != ForestDesigns::kNever)
        finish_block(row, done, forest_rows<Aggregate>(forest, from, width, done, area), contract::kForestByteRows);
    } else {
      if constexpr (std::is_same_v<Branches, ForestWalk>) forest_row<Aggregate>(forest, from, area, scores);
      else branch_row<Branches, Aggregate>(forest, from, area, scores);
      finish(row, scores);
    }
    row += done;
  }
}

}  // namespace detail

/// y[row, target] as scalar::tree_regressor computes it, which see; of `parts`, the numbers of trees and base values are used.
/// scratch: contract::forest_scratch bytes, of this share. Branches: as in forest_branches.hpp.
template <int64_t rows_from, int64_t bytes_from, int64_t bits_from, int id_bytes, scalar::TreeAggregate aggregate, class T, class Word,
          class Branches = ForestWalk, class Y, class X>
void forest_regressor(Share share, Tensor<Y> y, Tensor<const X> x, FlatForest<T, Word> forest, scalar::Forest<T> parts, uint8_t* scratch,
                      scalar::TreeParams params) {
  detail::for_each_row<ForestDesigns{rows_from, bytes_from, bits_from}, id_bytes, detail::ForestAggregate<aggregate>, Branches>(
      share, x, forest, scratch,
      [&](int64_t row, T* scores) { scalar::finish_regression(parts, params, scores, y.data + row * params.targets); });
}

/// classes[row] and y[row, class] as by scalar::tree_classifier. has: which classes have a weight in every row; null: those whose
/// sum is greater than 0.
template <int64_t rows_from, int64_t bytes_from, int64_t bits_from, int id_bytes, scalar::TreeAggregate aggregate, class T, class Word,
          class Branches = ForestWalk, class X>
void forest_classifier(Share share, Tensor<float> y, int64_t* classes, Tensor<const X> x, FlatForest<T, Word> forest,
                       scalar::Forest<T> parts, const bool* has, uint8_t* scratch, scalar::TreeParams params) {
  const int64_t n = params.targets;
  bool* const present = reinterpret_cast<bool*>(scratch + contract::forest_area(n * forest.shape.number_bytes));
  detail::for_each_row<ForestDesigns{rows_from, bytes_from, bits_from}, id_bytes, detail::ForestAggregate<aggregate>, Branches>(
      share, x, forest, scratch, [&](int64_t row, T* scores) {
        for (int64_t t = 0; t < n; ++t) present[t] = has != nullptr ? has[t] : scores[t] > T(0);
        classes[row] = scalar::finish_classification(parts, params, scores, present, y.data + row * n);
      });
}

}  // namespace onnxc::inline ONNXC_ISA
