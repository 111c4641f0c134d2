// Products of matrices on tensor cores.
#pragma once
#include "compiler/ops/kernel_query.h"

namespace onnxc {

/// Lowers a MatMul, or returns false.
bool lower_gpu_matmul(KernelQuery& l);

}  // namespace onnxc
