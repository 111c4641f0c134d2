// What the lowerings of If and Loop share.
#pragma once
#include "compiler/lowering/lowerer.h"

namespace onnxc {

/// Adds the extents of `outer` that are symbols of the node to `symbols`, and what they are inside a block to `values`.
void collect_extents(const Node& node, const Type& outer, const Type& inner, DimList& symbols, DimList& values);

/// The whole of a buffer, row-major, to be written.
inline View whole_buffer(BufferId buffer, const Type& type) { return {{buffer, true, 0, type.element}, type.element, type.extents, {}}; }

}  // namespace onnxc
