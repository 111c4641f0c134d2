// Sums over the pixels of each row of an image. A depthwise convolution computes them on the way if a mean over the
// image comes next, as in squeeze-and-excite.
#pragma once
#include <optional>

#include "compiler/ops/kernel_query.h"

namespace onnxc {

/// Whether output 0 of the node is a channels-last image that a ReduceSum over the pixels reads.
bool wants_row_sums(const KernelQuery& l);
/// If so, memory for the sums [n, h, c] of its rows. The ReduceSum will read these instead of the image
/// (KernelQuery::row_sums).
std::optional<PointerArg> wanted_row_sums(KernelQuery& l);

}  // namespace onnxc
