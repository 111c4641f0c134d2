// Rules of reverse-mode differentiation: from the derivative by a node's outputs to that by one of its inputs.
#pragma once
#include "compiler/ops/operator.h"

namespace onnxc {

/// A node as the differentiation sees it: its values may be copies at other inputs.
struct TapeEntry {
  const Node* node;
  std::vector<ValueId> inputs, outputs;
};

/// g with what broadcasting has repeated summed up again, so that it has the extents `to`.
ValueId sum_to(GraphBuilder& builder, const Node& node, ValueId g, Extents to);

/// The derivative by input i; `by_outputs[k]` is that by output k, or kAbsent. kAbsent where the output does not change with the input. An operator
/// without a rule is refused.
ValueId differentiate(GraphBuilder& builder, const TapeEntry& entry, int i, const std::vector<ValueId>& by_outputs);

}  // namespace onnxc
