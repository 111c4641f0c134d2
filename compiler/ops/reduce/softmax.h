// What kernels of softmax on any machine share.
#pragma once
#include <functional>

#include "compiler/ops/kernel_query.h"

namespace onnxc {

/// Emits the step for rows of n elements; `params`: rows, n, x_row, y_row.
using SoftmaxOfRows = std::function<void(PointerArg x, PointerArg y, Dim n, NamedArgs params)>;
/// Lowers an f32 Softmax or LogSoftmax to a kernel over rows, with copies where the axis is not the innermost one.
void lower_softmax_rows(KernelQuery& l, const SoftmaxOfRows& emit);

}  // namespace onnxc
