#pragma once
#include "compiler/ops/kernel_query.h"

namespace onnxc {

void lower_resize(KernelQuery& l);

/// Whether the result is better row-major wherever the input lies: an enlarged image that goes out as it is, which would have to be turned at its full size.
bool resizes_to_output(const Graph& graph, const Node& node);

}  // namespace onnxc
