// Broadcasting of extents that only a run tells: two that meet are equal, or one of them is 1.
//
//   [batch, 4] + [rows, 4]      gives [broadcast(batch, rows), 4]; an operand steps by 0 along an axis where its extent is found to be 1
//
// Extents that can never differ by one of them being 1 (h and 2*floordiv(h, 2), of an h of at least 2) must be equal.
#pragma once
#include <vector>

#include "compiler/ir/type.h"

namespace onnxc {

/// True where a run may find `own`, an operand's extent, to be 1 where the result's extent is more.
bool may_repeat(Dim own, Dim result);

/// By what an operand's stride along an axis is multiplied: 0 where a run finds that the axis repeats, else 1.
Dim repeat_factor(Dim own, Dim result);

/// The strides along the axes of the result of an operand of `extents`, which lies with `strides`; 0 where it repeats.
DimList broadcast_strides(const Extents& result, const Extents& extents, const DimList& strides);

}  // namespace onnxc
