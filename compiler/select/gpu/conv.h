// Convolutions on a GPU: as products of windows on tensor cores, depthwise, or by multiply-adds.
#pragma once
#include "compiler/ops/kernel_query.h"

namespace onnxc {

bool lower_gpu_conv(KernelQuery& l);       ///< Conv by constant f32 weights; false where it is another
bool lower_gpu_byte_conv(KernelQuery& l);  ///< onnxc.ByteConv

}  // namespace onnxc
