// What the reference of MaxPool, AveragePool and LpPool and their kernels both need to know of them.
#pragma once
#include "compiler/ops/nn/window.h"

namespace onnxc {

/// The window of a pool over an image of extents `x`; throws Error{Invalid} where its attributes do not fit.
Window pool_window(const Node& node, const Extents& x);

/// Elements of the windows of a result of extents `y`, all together.
Dim window_elements(const Window& window, const Extents& y);

/// Whether the node has a kernel besides the reference one, which applies epilogues.
bool has_fast_pool(const Graph& graph, const Node& node);

}  // namespace onnxc
