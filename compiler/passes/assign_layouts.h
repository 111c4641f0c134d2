// Which values lie channels-last.
#pragma once
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/layout.h"

namespace onnxc {

/// The layout in which each value is computed: channels-last from convolutions on, through the operators that follow,
/// and row-major elsewhere. `planar`: small images of few channels may stay row-major, for which processors have kernels. With --layout everything may be row-major.
PerValue<Layout> assign_layouts(const Graph& graph, int vector_floats, int64_t byte_unit = 4, bool planar = true);

}  // namespace onnxc
