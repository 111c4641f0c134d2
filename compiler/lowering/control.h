// What the lowerings of If and Loop share.
#pragma once
#include "compiler/lowering/lowerer.h"

namespace onnxc {

/// Adds those extents of `outer` that are symbols of the node to `symbols`, and their values inside a block to
/// `values`.
void collect_extents(const Node& node, const Type& outer, const Type& inner, DimList& symbols, DimList& values);

/// A view of the whole buffer, row-major, for writing.
inline View whole_buffer(BufferId buffer, const Type& type) { return {{buffer, true, 0, type.element}, type.element, type.extents, {}}; }

}  // namespace onnxc
