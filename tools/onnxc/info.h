// onnxc info: what is inside a model.
#pragma once
#include <string>

#include "codegen/compile.h"

namespace onnxc {

/// Prints opsets, metadata, inputs, outputs, operators with counts, parameters and multiply-adds.
int info_command(const std::string& path, bool json, const CompileOptions& options);

}  // namespace onnxc
