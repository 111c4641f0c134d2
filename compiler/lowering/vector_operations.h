// What an expression costs on vectors, for predictions.
#pragma once
#include "compiler/ir/expr.h"

namespace onnxc {

/// The time of an element, in additions: half a cycle of the processor for a whole vector. Divisions and roots run in a unit of their own, beside
/// most of the other operations. Integers of 8 and 16 bits are widened where they are read, clamped where floats become such, and narrowed where
/// they are written.
int64_t vector_operations(const Expr& expr);

}  // namespace onnxc
