// Rows against constant vectors (pairwise.hpp, distances.hpp, svm.hpp): panels and scratch memory. Sizes are in floats.
#pragma once
#include "sizes.hpp"

namespace onnxc::inline ONNXC_ISA::contract {

/// Constant vectors lie in panels of so many columns, as pack::panels packs a matrix whose columns they are.
constexpr int64_t pairwise_columns(int64_t lanes) { return 4 * lanes; }

/// Rows that run past one panel before the next.
constexpr int64_t kPairwiseRows = 32;

/// From one row to the next of a value for each vector, as columns of whole panels.
constexpr int64_t pairwise_pitch(int64_t vectors, int64_t lanes) { return round_up(vectors, pairwise_columns(lanes)); }

/// Rows whose values are kept at once: fewer where there are many vectors, so that they stay in L2.
constexpr int64_t pairwise_rows(int64_t vectors, int64_t lanes) {
  return max(4, min(kPairwiseRows, 32768 / pairwise_pitch(vectors, lanes)));
}

/// Scratch of a share of `nearest`: these values.
constexpr int64_t nearest_scratch(int64_t vectors, int64_t lanes) { return pairwise_rows(vectors, lanes) * pairwise_pitch(vectors, lanes); }

/// Sums of a row for each class and each other class.
constexpr int64_t svm_sums(int64_t classes) { return classes * (classes - 1); }

/// Scratch of a share of svm_regressor: the values of the rows, and their sums.
constexpr int64_t svm_regressor_scratch(int64_t vectors, int64_t lanes) {
  return pairwise_rows(vectors, lanes) * (pairwise_pitch(vectors, lanes) + 1);
}
/// Of svm_classifier: also what the scalar kernel needs for a row.
constexpr int64_t svm_classifier_scratch(int64_t vectors, int64_t classes, int64_t lanes) {
  return pairwise_rows(vectors, lanes) * (pairwise_pitch(vectors, lanes) + svm_sums(classes)) + 4 * classes * classes + 4 * classes;
}

}  // namespace onnxc::contract
