// Pools of images on vectors: of channels, where these lie channels-last, or along the rows of planar images.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "compiler/ops/kernel_query.h"
#include "compiler/ops/nn/window.h"

namespace onnxc {

/// The window of a pool and what it runs over.
Sliding pool_sliding(KernelQuery& l);

/// What the channels-last kernels are told of a pool, given the elements between pixels of the image and of the result.
std::vector<std::pair<std::string, Arg>> pool_params(KernelQuery& l, const Sliding& s, Dim x_pixel, Dim y_pixel);

}  // namespace onnxc
