// Winograd's convolutions as candidates for Conv, with tiles, blocks and scratch memory for the given sizes. The
// kernels are winograd.hpp, winograd_stride2.hpp and winograd_line.hpp.
#pragma once
#include "compiler/select/conv/conv_call.h"

namespace onnxc {

/// In both directions, for square kernels: F(2,3), F(4,3) and F(3,4) with stride 1, and 3x3 with stride 2 by phases.
/// Other kernels of stride 1 that are at least 3 long both ways are cut into pieces for F(4,3).
void consider_winograd(KernelQuery& l, const ConvCall& c);
/// F(4,3) along rows or columns alone, with stride 1 and any dilation. The kernel is 3 long there and of any size
/// across, or longer than that and 1 across. It has fewer transformed weights than F(4,3) in both directions.
void consider_winograd_line(KernelQuery& l, const ConvCall& c);

}  // namespace onnxc
