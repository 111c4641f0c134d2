// A 1x1 convolution of an image whose channels are scaled first, as in squeeze-and-excite. The factors go into the
// weights.
#pragma once
#include <vector>

#include "compiler/ops/kernel_query.h"
#include "compiler/select/islands/surroundings.h"

namespace onnxc {

/// The Map x * s before `conv`, where s has a factor for each channel that only a run knows. Empty where there is no
/// such Map, or where there are more weights to scale than pixels.
std::vector<const Node*> absorbed_by_scaled_conv(const Surroundings& around, const Node& conv, const Target& target);
/// Lowers a `conv` that absorbed such a Map.
void lower_scaled_conv(KernelQuery& conv);

}  // namespace onnxc
