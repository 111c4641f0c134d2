// A sum for each pair of a row and a constant vector, over their elements: of products, or of a function of their
// differences. Constant vectors are columns of panels (contract/pairwise.hpp), so lanes hold vectors and no sum goes
// across lanes.
//
// Squared distances are sums of squared differences, two operations an element. |x|^2 - 2 x.v + |v|^2 would take one, but
// where rows are close, and for nearest neighbours those are the ones that count, its terms cancel: the error is relative
// to |x|^2 and not to the distance. With the few features that such models have, the second operation is less than what
// follows, an exponential or the search for the least.
//
// Each sum is one chain in the order of the elements, whatever the tile. All terms of a distance have one sign, so its
// relative error is at most features * 2^-24, and about the root of that.
#pragma once
#include "contract/pairwise.hpp"
#include "vfn.hpp"

namespace onnxc::inline ONNXC_ISA {

struct ProductTerm {
  static ONNXC_INLINE Vec add(Vec sum, Vec x, Vec v) { return fma(x, v, sum); }
};
struct SquareTerm {
  static ONNXC_INLINE Vec add(Vec sum, Vec x, Vec v) {
    const Vec d = v - x;
    return fma(d, d, sum);
  }
};
struct MagnitudeTerm {
  static ONNXC_INLINE Vec add(Vec sum, Vec x, Vec v) { return sum + abs(v - x); }
};
struct GreatestTerm {
  static ONNXC_INLINE Vec add(Vec sum, Vec x, Vec v) { return max_or_nan(sum, abs(v - x)); }
};

namespace detail {

constexpr int kPairwiseVectors = 4;
static_assert(kPairwiseVectors * Vec::width == contract::pairwise_columns(Vec::width));
/// With one row, four chains are as fast as their operations where each element takes two.
constexpr int kPairwiseTile = ONNXC_VECTOR_REGISTERS == 32 ? 4 : 2;

/// finish(i, j, sum) for vector j of the panel and rows [0, MR), `pitch` floats apart.
template <class Term, int MR, class Finish>
ONNXC_INLINE void pairwise_tile(const float* x, int64_t pitch, int64_t k, const float* panel, const Finish& finish) {
  Vec acc[MR][kPairwiseVectors];
  ONNXC_UNROLL for (int i = 0; i < MR; ++i) { ONNXC_UNROLL for (int j = 0; j < kPairwiseVectors; ++j) acc[i][j] = Vec::all(0.0f); }
  for (int64_t c = 0; c < k; ++c, ++x, panel += kPairwiseVectors * Vec::width) {
    Vec v[kPairwiseVectors];
    ONNXC_UNROLL for (int j = 0; j < kPairwiseVectors; ++j) v[j] = Vec::load(panel + j * Vec::width);
    ONNXC_UNROLL for (int i = 0; i < MR; ++i) {
      const Vec value = Vec::all(x[i * pitch]);
      ONNXC_UNROLL for (int j = 0; j < kPairwiseVectors; ++j) acc[i][j] = Term::add(acc[i][j], value, v[j]);
    }
  }
  ONNXC_UNROLL for (int i = 0; i < MR; ++i) { ONNXC_UNROLL for (int j = 0; j < kPairwiseVectors; ++j) finish(i, j, acc[i][j]); }
}

/// finish(row, column, sum) for all rows of x and the panels of `vectors` constant vectors. `column` is a multiple of
/// the lanes, and may be beyond the last vector: there the panel has zeros.
template <class Term, class Finish>
ONNXC_INLINE void for_each_pair(const float* x, int64_t rows, int64_t k, const float* panels, int64_t vectors, const Finish& finish) {
  constexpr int64_t kColumns = contract::pairwise_columns(Vec::width);
  for (int64_t first = 0; first < rows; first += contract::kPairwiseRows) {
    const int64_t end = rows - first < contract::kPairwiseRows ? rows : first + contract::kPairwiseRows;
    for (int64_t column = 0; column < vectors; column += kColumns) {
      const float* const panel = panels + column * k;
      const auto at = [&](int64_t row) {
        return [&, row](int i, int j, Vec sum) ONNXC_INLINE_LAMBDA { finish(row + i, column + j * Vec::width, sum); };
      };
      int64_t row = first;
      for (; row + kPairwiseTile <= end; row += kPairwiseTile) pairwise_tile<Term, kPairwiseTile>(x + row * k, k, k, panel, at(row));
      for (; row < end; ++row) pairwise_tile<Term, 1>(x + row * k, k, k, panel, at(row));
    }
  }
}

}  // namespace detail

}  // namespace onnxc::inline ONNXC_ISA
