// Sums of the pixels of each row of an image, which a depthwise convolution makes on the way for a mean that comes next, as in squeeze-and-excite.
#pragma once
#include <optional>

#include "compiler/lowering/lowering.h"

namespace onnxc {

/// Whether a ReduceSum over the pixels reads output 0 of the node, a channels-last image.
bool wants_row_sums(const Lowering& l);
/// Where it does: memory for the sums [n, h, c] of its rows, which that ReduceSum will read
/// instead (Lowering::row_sums).
std::optional<PointerArg> wanted_row_sums(Lowering& l);

}  // namespace onnxc
