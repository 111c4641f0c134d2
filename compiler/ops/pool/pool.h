// What both the reference kernel of MaxPool, AveragePool and LpPool and their other kernels need to know.
#pragma once
#include "compiler/ops/nn/window.h"

namespace onnxc {

/// The window of a pool over an image with extents `x`. Throws Error{Invalid} if its attributes do not fit.
Window pool_window(const Node& node, const Extents& x);

/// The number of elements of all windows together, for a result with extents `y`.
Dim window_elements(const Window& window, const Extents& y);

/// Whether the node has a kernel in addition to the reference one, which then applies epilogues.
bool has_fast_pool(const Graph& graph, const Node& node);

/// Whether the node is a MaxPool of bytes that has a kernel in addition to the reference one. It applies no epilogue.
bool has_byte_pool(const Graph& graph, const Node& node);

}  // namespace onnxc
