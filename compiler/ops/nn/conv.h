// Conv as others see it: its shape rule, for operators that convolve as it does, and what its kernels need to know of it.
#pragma once
#include "compiler/ops/nn/window.h"

namespace onnxc {

/// The window of input x by input w, given their extents, with that of the node's attributes; throws Error{Invalid} where they do not fit.
Window conv_window(const Node& node, const Extents& x, const Extents& w);

/// The extents of the convolution of input x by input w, with the window of the node's attributes; throws where they do not fit.
Extents conv_extents(Inference& n, int x, int w);

/// Whether kernels for constant f32 weights compute the node, in one to three dimensions; they apply epilogues.
bool has_fast_conv(const Graph& graph, const Node& node);

}  // namespace onnxc
