// What the reference of ConvTranspose and its kernels both need to know of it.
#pragma once
#include "compiler/ops/nn/window.h"

namespace onnxc {

/// The window with ConvTranspose's pads, and the spatial extents of the output.
struct ConvTransposePlacement {
  Window window;
  Extents out;
};

/// Reads the attributes of a ConvTranspose whose operand and weights have extents `x` and `w`; throws Error{Invalid} where they do not fit.
ConvTransposePlacement place_conv_transpose(const Node& node, const Extents& x, const Extents& w);

/// Whether kernels for constant f32 weights compute the node, in one to three dimensions; they apply epilogues.
bool has_fast_conv_transpose(const Graph& graph, const Node& node);

}  // namespace onnxc
