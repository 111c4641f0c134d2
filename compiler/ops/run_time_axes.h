// Axes that only a run knows, as extents: for each axis there is an indicator, 1 if it is named and 0 if not. With
// constant axes all of this folds to constants.
#pragma once
#include <vector>

#include "compiler/ops/operator.h"

namespace onnxc {

/// 1 where a == b, else 0.
Dim indicator_equal(Dim a, Dim b);
/// 1 where a < 0, else 0.
Dim indicator_negative(Dim a);
/// a where the indicator is 1, else b.
inline Dim select(Dim indicator, Dim a, Dim b) { return b + indicator * (a - b); }

/// For each axis of a tensor of `rank`, 1 where `axes` names it (negative ones count from the end).
DimList axis_indicators(const DimList& axes, int rank);
/// The same for a shape rule: axes that are out of range or named twice are errors, of the model or of the run.
DimList checked_axis_indicators(Inference& inference, const DimList& axes, int rank);

/// The remaining extents when the `count` axes with indicator 1 are removed.
Extents drop_axes(Inference& inference, const Extents& extents, const DimList& dropped, std::size_t count);
/// The extents with axes of extent 1 inserted where the indicator is 1.
Extents insert_axes(Inference& inference, const Extents& extents, const DimList& added);

}  // namespace onnxc
