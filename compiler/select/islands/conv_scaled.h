// A 1x1 convolution of an image whose channels are scaled first, as squeeze-and-excite does: the factors go into the weights.
#pragma once
#include "compiler/ops/kernel_query.h"

namespace onnxc {

/// The Map x * s before `conv`, with s one factor a channel that a run computes; null where there is none, or more weights than pixels.
const Node* scale_before(const Surroundings& around, const Node& conv);
void lower_scaled_conv(KernelQuery& conv);

}  // namespace onnxc
