#pragma once
#include <vector>

#include "compiler/ops/operator.h"

namespace onnxc {

/// Every operator of op_list.inc.
std::vector<const Operator*> list_operators();

}  // namespace onnxc
