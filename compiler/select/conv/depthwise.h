// Depthwise convolutions as candidates for Conv: runtime_stub/onnxc/depthwise.hpp, depthwise_winograd.hpp.
#pragma once
#include "compiler/select/conv/conv_call.h"

namespace onnxc {

/// With rows that are unrolled where they are 3, 5 or 7 long, or any window.
void consider_depthwise(KernelQuery& l, const ConvCall& c);
/// Pairs of rows, and of columns the two beside them.
void consider_depthwise_winograd(KernelQuery& l, const ConvCall& c);

}  // namespace onnxc
