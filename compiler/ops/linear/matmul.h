// The shape rule of MatMul, for operators that multiply as it does.
#pragma once
#include "compiler/ops/operator.h"

namespace onnxc {

/// The extents of the product of inputs a and b, as numpy has it; throws where the inner ones do not match.
Extents matmul_extents(Inference& n, int a, int b);

}  // namespace onnxc
