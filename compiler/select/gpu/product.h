// Products of matrices on a GPU. Each function lowers a node of the operator that it names, or returns false.
#pragma once
#include "compiler/ops/kernel_query.h"

namespace onnxc {

bool lower_gpu_matmul(KernelQuery& l);       ///< MatMul of f32
bool lower_gpu_byte_matmul(KernelQuery& l);  ///< onnxc.ByteMatMul
bool lower_gpu_nbits(KernelQuery& l);        ///< com.microsoft.MatMulNBits of f32

}  // namespace onnxc
