// What a unit calls its expressions and its weights: names that say what they are.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "codegen/names.h"
#include "compiler/ir/program.h"

namespace onnxc {

/// A name for each expression of a program, made of its functions: AddRelu; E12 where it has none or many. Each begins with a capital letter.
std::vector<std::string> expr_names(const Program& program);

/// A scope for the names of a unit's weights, without those that the unit has for other things.
Names weight_scope(const std::string& name_space, const std::vector<std::string>& variants);

/// A name for weights that come from the ONNX value `from`: at most 40 characters, of a long one its end. It begins with a small letter, so it is no expression's.
///   "conv1.weight" → conv1_weight     "/encoder/layer.0/.../Conv_output_0" → layer_0_Conv_output_0     "B" → b
std::string add_weight_name(Names& scope, std::string_view from);

}  // namespace onnxc
