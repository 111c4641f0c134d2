// TopK as other files see it.
#pragma once
#include "compiler/ops/kernel_query.h"

namespace onnxc {

/// The values (0) or indices (1) of a TopK. Where an output is absent it is scratch memory, since each is needed for the other.
View top_k_output(KernelQuery& l, int i);

}  // namespace onnxc
