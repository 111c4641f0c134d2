// Pools of images with vectors: along the channels where these are the last axis, or along the rows of planar images.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "compiler/ops/kernel_query.h"
#include "compiler/ops/nn/window.h"
#include "compiler/select/islands/surroundings.h"

namespace onnxc {

/// A pool's window, and the extents that it slides over.
Sliding pool_sliding(KernelQuery& l);

/// The parameters of a pool's channels-last kernels, for these distances in elements from one pixel of the image, and
/// of the result, to the next.
NamedArgs pool_params(KernelQuery& l, const Sliding& s, Dim x_pixel, Dim y_pixel);

/// The node that computes the image which a MaxPool with constant result extents reads, if nothing else reads it and
/// the node's epilogue has no operands. Otherwise null.
const Node* producer_of_max_pool(const Surroundings& around, const Node& node);

/// Whether a max pooling reads and writes planar images.
bool is_planar_pool(const Surroundings& around, const Node& pool);

}  // namespace onnxc
