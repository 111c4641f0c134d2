// Sums of the pixels of each row of an image, which a depthwise convolution makes on the way for a mean that comes next, as in squeeze-and-excite.
#pragma once
#include <optional>

#include "compiler/ops/kernel_query.h"

namespace onnxc {

/// Whether a ReduceSum over the pixels reads output 0 of the node, a channels-last image.
bool wants_row_sums(const KernelQuery& l);
/// Where it does: memory for the sums [n, h, c] of its rows, which that ReduceSum will read
/// instead (KernelQuery::row_sums).
std::optional<PointerArg> wanted_row_sums(KernelQuery& l);

}  // namespace onnxc
