// Rules of reverse-mode differentiation: from the derivatives with respect to a node's outputs to that with respect
// to one of its inputs.
#pragma once
#include "compiler/ops/operator.h"

namespace onnxc {

/// A node as the differentiation sees it. Its values may be copies for other inputs.
struct TapeEntry {
  const Node* node;
  std::vector<ValueId> inputs, outputs;
};

/// g summed over what broadcasting has repeated, so that it has the extents `to`.
ValueId sum_to(GraphBuilder& builder, const Node& node, ValueId g, Extents to);

/// The derivative with respect to input i; kAbsent if no output depends on it. `by_outputs[k]` is the derivative with
/// respect to output k, or kAbsent. An operator without a rule is refused.
ValueId differentiate(GraphBuilder& builder, const TapeEntry& entry, int i, const std::vector<ValueId>& by_outputs);

}  // namespace onnxc
