#include "compiler/select/gpu/gpu_kernels.h"

#include <map>
#include <string_view>

#include "compiler/select/gpu/conv.h"
#include "compiler/select/gpu/gathers.h"
#include "compiler/select/gpu/product.h"
#include "compiler/select/gpu/rows.h"

namespace onnxc {

bool lower_by_gpu_kernels(KernelQuery& l) {
  static const std::map<std::string_view, bool (*)(KernelQuery&)> kKernels{
      {"Conv", lower_gpu_conv},
      {"onnxc.ByteConv", lower_gpu_byte_conv},
      {"onnxc.ByteMatMul", lower_gpu_byte_matmul},
      {"MatMul", lower_gpu_matmul},
      {"com.microsoft.MatMulNBits", lower_gpu_nbits},
      {"Softmax", lower_gpu_softmax},
      {"LogSoftmax", lower_gpu_softmax},
      {"LayerNormalization", lower_gpu_norm},
      {"RMSNormalization", lower_gpu_norm},
      {"ReduceSum", lower_gpu_reduce},
      {"ReduceProd", lower_gpu_reduce},
      {"ReduceMax", lower_gpu_reduce},
      {"ReduceMin", lower_gpu_reduce},
      {"onnxc.ByteSum", lower_gpu_byte_sum},
      {"MaxPool", lower_gpu_pool},
      {"AveragePool", lower_gpu_pool},
      {"Gather", lower_gpu_gather},
      {"GatherND", lower_gpu_gather_nd},
      {"GatherElements", lower_gpu_gather_elements},
      {"ScatterND", lower_gpu_scatter},
      {"ScatterElements", lower_gpu_scatter},
  };
  const auto found = kKernels.find(l.node().full_op());
  return found != kKernels.end() && found->second(l);
}

}  // namespace onnxc
