// A 1x1 convolution of an image whose channels are scaled first, as squeeze-and-excite does: the factors go into the weights.
#pragma once
#include <vector>

#include "compiler/ops/kernel_query.h"
#include "compiler/select/islands/surroundings.h"

namespace onnxc {

/// The Map x * s before `conv`, with s one factor a channel that a run computes; nothing where there is none, or more weights than pixels.
std::vector<const Node*> absorbed_by_scaled_conv(const Surroundings& around, const Node& conv, const Target& target);
/// Lowers `conv` with such a Map absorbed.
void lower_scaled_conv(KernelQuery& conv);

}  // namespace onnxc
