// Derivatives of expressions.
#pragma once
#include "compiler/ir/expr.h"

namespace onnxc {

/// g * d(e)/d(x_number), over the inputs of `e` and x_`g` for the derivative of what follows. Empty where `e` does not change with that input.
/// Throws Error{Unsupported} where a function on the way has no rule. Jumps (Floor, comparisons) have the derivative 0, as have kinks on their left.
Expr adjoint(const Expr& e, int number, int g);

}  // namespace onnxc
