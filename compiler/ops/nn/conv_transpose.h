// What both the reference kernel of ConvTranspose and its other kernels need to know.
#pragma once
#include "compiler/ops/nn/window.h"

namespace onnxc {

/// The window with ConvTranspose's pads, and the spatial extents of the output.
struct ConvTransposeWindow {
  Window window;
  Extents out;
};

/// Reads the attributes of a ConvTranspose whose operand and weights have extents `x` and `w`. Throws Error{Invalid}
/// if they do not match.
ConvTransposeWindow read_conv_transpose(const Node& node, const Extents& x, const Extents& w);

/// Whether the kernels for constant f32 weights, which apply epilogues, can compute the node: one to three spatial
/// axes.
bool has_fast_conv_transpose(const Graph& graph, const Node& node);

}  // namespace onnxc
