// onnxc info: what is inside a model.
#pragma once
#include <string>

#include "codegen/compile.h"

namespace onnxc {

enum class InfoForm { Text, Json, Csv };

/// Prints opsets, metadata, inputs, outputs, operators with counts, parameters, and what compiling tells: multiply-adds, arena, packed weights, the work of each
/// step. Csv: the steps alone, a line for each; throws Error{Unsupported} where the model does not compile.
int info_command(const std::string& path, InfoForm form, const CompileOptions& options);

}  // namespace onnxc
