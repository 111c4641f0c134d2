// Transpose as other files see it.
#pragma once
#include <vector>

#include "compiler/ir/graph.h"

namespace onnxc {

/// The axis of the operand, of that rank, that each axis of the result is: `perm`, or the axes reversed. The shape rule checks it.
std::vector<int64_t> permutation_of(const Node& node, int rank);

}  // namespace onnxc
