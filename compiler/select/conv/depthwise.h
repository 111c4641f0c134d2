// Depthwise convolutions as candidates for Conv: runtime_stub/onnxc/depthwise.hpp, depthwise_taps.hpp, depthwise_winograd.hpp.
#pragma once
#include "compiler/select/conv/conv_call.h"

namespace onnxc {

/// `depthwise`, whose rows are unrolled, for 3x3, 5x5 and 7x7 kernels; `depthwise_any` for all other windows.
void consider_depthwise(KernelQuery& l, const ConvCall& c);
/// For microcontrollers: any window, a pixel at a time.
void consider_depthwise_taps(KernelQuery& l, const ConvCall& c);
/// Winograd's F(2,3) along columns, for 3x3 kernels: two rows of the result at a time.
void consider_depthwise_winograd(KernelQuery& l, const ConvCall& c);

}  // namespace onnxc
