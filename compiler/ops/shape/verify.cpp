// onnxc.Verify: precedes the function body of an operator, and checks the operator's inputs against its schema. The
// first walk that infers types removes it.
#include "compiler/ops/operator.h"

namespace onnxc {

extern const Operator op_Verify;
const Operator op_Verify{.name = "Verify", .domain = "onnxc", .min_outputs = 0, .max_outputs = 0, .infer = [](Inference&) {}};

}  // namespace onnxc
