#pragma once
#include "compiler/ops/kernel_query.h"

namespace onnxc {

void lower_resize(KernelQuery& l);

/// Whether the result is better row-major, whatever the layout of the input: an enlarged image that is an output of
/// the model would have to be transposed at its full size.
bool resizes_to_output(const Graph& graph, const Node& node);

}  // namespace onnxc
