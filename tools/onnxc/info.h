// onnxc info: describes a model.
#pragma once
#include <string>

#include "codegen/compile.h"

namespace onnxc {

enum class InfoForm { Text, Json, Csv };

/// Prints opsets, metadata, inputs, outputs, operators with their numbers, parameters, and what compiling reveals:
/// multiply-adds, arena, packed weights, the work of each step. Csv: only the steps, a line for each; throws
/// Error{Unsupported} if the model does not compile.
int info_command(const std::string& path, InfoForm form, const CompileOptions& options);

}  // namespace onnxc
