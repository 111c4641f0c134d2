#pragma once
#include "compiler/ir/program.h"

namespace onnxc {

/// Replaces products with a sigmoid that nothing else reads by Fn::Gate, or by Fn::GateExp2 if the sigmoid's operand
/// is u * -ln 2 in f32, as passes/scale_gates.h prepares it. A gate is one function of the runtime, which saves a
/// multiplication and a rounding. So is the sum of 1 and an error function that nothing else reads, as in GELU:
/// Fn::ErfPlusOne.
void find_gates(Program& program);

}  // namespace onnxc
