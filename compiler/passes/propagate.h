// The forward walk that infer_shapes and fold_constants share.
#pragma once
#include "compiler/ir/graph.h"

namespace onnxc {

/// What may be folded: a value of at most `most_bytes` bytes, all together at most `total_bytes`; strings with their text. What is larger than `growth_bytes` must not be
/// larger than what it is made of: a ConstantOfShape or an Expand stays the few bytes it is in the model, unless it ends up as the weights of a product.
struct FoldBudget {
  int64_t most_bytes = 0;
  int64_t total_bytes = 0;
  int64_t growth_bytes = INT64_MAX;
  double work = 1e9;  ///< multiply-adds; what takes more is left to the run
};

/// Visits every node once, in order: resolves its version, infers its types and elements, and, where all inputs are constant and the budget
/// allows, replaces it by its value. Regions are walked with the types of their captures; If with a known condition becomes its branch.
void propagate(Graph& graph, FoldBudget budget);

}  // namespace onnxc
