// Names for a unit's expressions and weights that describe what they are.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "codegen/names.h"
#include "compiler/ir/program.h"

namespace onnxc {

/// A name for each expression of a program, composed of its functions: AddRelu; E12 if it has none or many. Each name
/// begins with a capital letter.
std::vector<std::string> expr_names(const Program& program);

/// A scope for the names of a unit's weights, without names that the unit uses otherwise.
Names weight_scope(const std::string& name_space, const std::vector<std::string>& variants, bool gpu);

/// A name for weights that come from the ONNX value `from`: at most 40 characters, the end of a long one. It begins
/// with a small letter, so it differs from the names of expressions.
///   "conv1.weight" → conv1_weight     "/encoder/layer.0/.../Conv_output_0" → layer_0_Conv_output_0     "B" → b
std::string add_weight_name(Names& scope, std::string_view from);

}  // namespace onnxc
