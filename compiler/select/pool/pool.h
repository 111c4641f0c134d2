// Pools of images on vectors: of channels, where these lie channels-last, or along the rows of planar images.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "compiler/ops/kernel_query.h"
#include "compiler/ops/nn/window.h"
#include "compiler/select/islands/surroundings.h"

namespace onnxc {

/// The window of a pool and what it runs over.
Sliding pool_sliding(KernelQuery& l);

/// What the channels-last kernels are told of a pool, given the elements between pixels of the image and of the result.
NamedArgs pool_params(KernelQuery& l, const Sliding& s, Dim x_pixel, Dim y_pixel);

/// The node that makes the image which a MaxPool to constant extents reads, for it alone and by an epilogue without operands; or null.
const Node* producer_of_max_pool(const Surroundings& around, const Node& node);

/// Whether a max pooling reads and writes planar images.
bool is_planar_pool(const Surroundings& around, const Node& pool);

}  // namespace onnxc
