// Winograd's convolutions as candidates for Conv: winograd.hpp, winograd_stride2.hpp and winograd_line.hpp, with tiles, blocks and scratch memory for the sizes at hand.
#pragma once
#include "compiler/select/conv/conv_call.h"

namespace onnxc {

/// In both directions: F(2,3) and F(4,3) for kernels of 3x3 and stride 1, or in pieces of 3x3 for larger ones, F(3,4) for 4x4; for kernels of 3x3 and stride 2 by phases.
void consider_winograd(KernelQuery& l, const ConvCall& c);
/// F(4,3) along rows or columns alone: kernels that are 3 long there and of any size across, or longer ones with one tap across, with any dilation. It is also for layers
/// whose transformed weights would be too many.
void consider_winograd_line(KernelQuery& l, const ConvCall& c);

}  // namespace onnxc
