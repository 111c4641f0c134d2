// Derivatives of expressions.
#pragma once
#include "compiler/ir/expr.h"

namespace onnxc {

/// g * d(e)/d(x_number), as an expression of the inputs of `e` and x_`g`, the derivative of what follows. Empty if `e`
/// does not depend on that input. Throws Error{Unsupported} if a function on the way has no rule. Jumps (Floor,
/// comparisons) have the derivative 0, and so have the kinks of Relu and Abs at 0. Of equal operands, Min and Max pass
/// the derivative to the first.
Expr adjoint(const Expr& e, int number, int g);

}  // namespace onnxc
