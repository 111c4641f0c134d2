// Kernels of a GPU that combine the values of rows, or of windows. Each function lowers a node of the operators that it
// names, or returns false.
#pragma once
#include "compiler/ops/kernel_query.h"

namespace onnxc {

bool lower_gpu_softmax(KernelQuery& l);   ///< Softmax, LogSoftmax
bool lower_gpu_norm(KernelQuery& l);      ///< LayerNormalization, RMSNormalization
bool lower_gpu_reduce(KernelQuery& l);    ///< ReduceSum, ReduceProd, ReduceMax, ReduceMin
bool lower_gpu_byte_sum(KernelQuery& l);  ///< onnxc.ByteSum
bool lower_gpu_pool(KernelQuery& l);      ///< MaxPool, AveragePool

}  // namespace onnxc
