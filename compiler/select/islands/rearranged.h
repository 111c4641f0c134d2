// What a value is of another if only moves lie between: Transpose, Reshape, Expand, Split, and the like. A kernel that takes strides reads
// the other where it lies.
//
//   x [batch, seq, 256] -> Reshape [batch, seq, 4, 64] -> Transpose [batch, 4, seq, 64]
//
//   is x with the strides [256*seq, 64, 256, 1]
#pragma once
#include "compiler/select/islands/surroundings.h"

namespace onnxc {

/// So many neighbours along an axis, and the elements from one to the next.
struct Walk {
  Dim extent, stride;
};

/// Element (i, j, ...) of a value is factor * source[offset + walks of i + walks of j + ...], where the source is row-major.
struct Rearranged {
  ValueId source;
  Dim offset = 0;
  /// Of each axis, the outermost first. An axis of extent 1 has none; one that a Reshape made of others may have several.
  std::vector<std::vector<Walk>> axes;
  double factor = 1;
  std::vector<const Node*> nodes;  ///< between both, in the order in which they run
};

/// Follows `value` back through moves, and with `with_factors` through products by a constant.
Rearranged rearranged(const Surroundings& around, ValueId value, bool with_factors);
/// The value as it is.
Rearranged as_it_is(const Graph& graph, ValueId value);
/// The same walks with neighbours joined that are one walk.
std::vector<Walk> joined(const std::vector<Walk>& walks);

/// c where the expression is c * x0; empty if it is another.
std::optional<double> factor_of(const Expr& e);

}  // namespace onnxc
