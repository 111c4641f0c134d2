// Broadcasting of extents that only a run knows: two that meet are equal, or one of them is 1.
//
//   [batch, 4] + [rows, 4]      gives [broadcast(batch, rows), 4]
//
// Along an axis where a run finds an operand's extent to be 1, that operand's step is 0.
//
// Extents of which one can never be 1 while the other is more (h and 2*floordiv(h, 2), for h of at least 2) must be
// equal.
#pragma once
#include <vector>

#include "compiler/ir/type.h"

namespace onnxc {

/// True if in a run `own`, an operand's extent, may be 1 while the result's extent is more.
bool may_repeat(Dim own, Dim result);

/// The factor for an operand's stride along an axis: 0 if a run finds that the axis repeats, else 1.
Dim repeat_factor(Dim own, Dim result);

/// The strides, along the axes of the result, of an operand with these extents and strides; 0 where it repeats.
DimList broadcast_strides(const Extents& result, const Extents& extents, const DimList& strides);

}  // namespace onnxc
