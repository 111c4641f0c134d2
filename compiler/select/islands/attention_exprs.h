// What expressions around the Softmax of attention say.
#pragma once
#include <optional>

#include "compiler/ir/expr.h"

namespace onnxc {

/// Whether what is not finite in x0 leaves the expression not finite, or where operands alone choose something else.
bool leads_infinities_on(const Expr& e);

/// where(is_nan(x), 0, x), as exporters write it for queries that see no key.
bool replaces_nan(const Expr& e);

/// The number of the condition in where(condition, 0, x); empty if the expression is another.
std::optional<int> clearing_condition(const Expr& e, int x);

}  // namespace onnxc
