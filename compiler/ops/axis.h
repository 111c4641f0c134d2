// The attribute `axis`, which counts from the back where it is negative.
#pragma once

#include <cstdint>

#include "compiler/ir/graph.h"

namespace onnxc {

/// `axis` counted from the front, of a tensor with `rank` axes; `otherwise`: where a node has none. Its range is checked by the shape rule.
inline int64_t axis_of(const Node& node, int64_t otherwise, int64_t rank) {
  const int64_t axis = node.integer("axis", otherwise);
  return axis < 0 ? axis + rank : axis;
}

}  // namespace onnxc
