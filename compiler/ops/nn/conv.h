// Conv as other files see it: its shape rule, for operators that convolve as it does, and what its kernels need to
// know.
#pragma once
#include "compiler/ops/nn/window.h"
#include "runtime_stub/onnxc/scalar/conv.hpp"

namespace onnxc {

/// The window of the node's attributes for x and w with these extents. Throws Error{Invalid} if they do not match.
Window conv_window(const Node& node, const Extents& x, const Extents& w);

/// The extents of the convolution of input x by input w, with the window of the node's attributes. Throws if they do
/// not match.
Extents conv_extents(Inference& n, int x, int w);

/// Whether the kernels for constant f32 weights, which apply epilogues, can compute the node: one to three spatial
/// axes.
bool has_fast_conv(const Graph& graph, const Node& node);

/// The window of the node, with the value `outside` beyond the borders of x.
scalar::ConvParams scalar_conv_params(Evaluation& e, int64_t outside = 0);
/// The reference kernel for any elements, and the node's epilogue. A bias, input 2, has elements of the sums.
void lower_scalar_conv(KernelQuery& l, ElementType sums, int64_t outside = 0);

}  // namespace onnxc
