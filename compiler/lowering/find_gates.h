#pragma once
#include "compiler/ir/program.h"

namespace onnxc {

/// Products with a sigmoid that nothing else reads become Fn::Gate, and Fn::GateExp2 where the sigmoid's operand is u * -ln 2 in f32 (passes/scale_gates.h plants
/// these): one function of the runtime, which saves a multiplication and a rounding.
void find_gates(Program& program);

}  // namespace onnxc
