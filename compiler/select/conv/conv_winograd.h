// Winograd's convolutions as candidates for Conv: winograd.hpp, winograd_stride2.hpp and winograd_line.hpp, with tiles, blocks and scratch memory for the sizes at hand.
#pragma once
#include "compiler/select/conv/conv_call.h"

namespace onnxc {

/// In both directions, for 3x3 and 5x5 kernels of stride 1: F(2,3), F(4,3), F(2,5); for 3x3 of stride 2 by phases.
void consider_winograd(KernelQuery& l, const ConvCall& c);
/// Along rows or columns alone: kernels that are 3, 5 or 7 long there and of any size across, or of any length and one across, any dilation, and layers whose transformed weights would be too many.
void consider_winograd_line(KernelQuery& l, const ConvCall& c);

}  // namespace onnxc
