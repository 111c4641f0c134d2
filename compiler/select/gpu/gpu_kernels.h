// Kernels of a GPU's own, by operator. What has none runs there by its reference kernel, one thread for each share.
#pragma once
#include "compiler/ops/kernel_query.h"

namespace onnxc {

/// Lowers a node that runs on a GPU to such kernels. False, with nothing done, where there are none for it.
bool lower_by_gpu_kernels(KernelQuery& l);

}  // namespace onnxc
