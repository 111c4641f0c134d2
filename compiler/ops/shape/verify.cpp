// onnxc.Verify: stands before the body that ONNX gives an operator, and holds the operator's inputs against its schema. The first walk that infers types drops it.
#include "compiler/ops/operator.h"

namespace onnxc {

extern const Operator op_Verify;
const Operator op_Verify{.name = "Verify", .domain = "onnxc", .min_outputs = 0, .max_outputs = 0, .infer = [](Inference&) {}};

}  // namespace onnxc
