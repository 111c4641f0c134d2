// The forward walk that infer_shapes and fold_constants share.
#pragma once
#include "compiler/ir/graph.h"

namespace onnxc {

/// What may be folded: values of at most `most_bytes` bytes, and at most `total_bytes` bytes together, where strings
/// count with their text. A value of more than `growth_bytes` must not be larger than its inputs: a ConstantOfShape
/// or an Expand keeps the few bytes that it has in the model, unless it becomes the weights of a product.
struct FoldBudget {
  int64_t most_bytes = 0;
  int64_t total_bytes = 0;
  int64_t growth_bytes = INT64_MAX;
  double work = 1e9;  ///< multiply-adds; nodes that cost more are left to the run
  /// For evaluations: Loops run if their inputs are constants, and nodes whose operators have no reference value are taken apart.
  bool evaluates = false;
};

/// Visits every node once, in order: updates its version, infers its types and elements, and replaces it by its value
/// if all inputs are constant and the budget allows it. Regions are walked with the types of their captures. An If
/// with a known condition becomes its branch. Returns the bytes of the values that were folded.
int64_t propagate(Graph& graph, FoldBudget budget);

}  // namespace onnxc
