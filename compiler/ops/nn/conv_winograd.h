// Winograd's convolutions as candidates for Conv: winograd.hpp and winograd_line.hpp, with tiles, blocks and scratch memory for the sizes at hand.
#pragma once
#include "compiler/ops/nn/conv_call.h"

namespace onnxc {

/// F(2,3) and F(4,3) in both directions, for 3x3 kernels of stride 1.
void consider_winograd(Lowering& l, const ConvCall& c);
/// Along the rows alone: kernels three wide of any height and dilation, and layers whose transformed weights would be too many.
void consider_winograd_line(Lowering& l, const ConvCall& c);

}  // namespace onnxc
