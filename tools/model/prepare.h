// How commands that give models from models in floats begin: the model is checked, and brought to a form with fewer cases. Its outputs stay what they are, but for
// rounding.
#pragma once
#include <filesystem>

#include "codegen/compile.h"
#include "tools/model/layers.h"

namespace onnxc {

/// The types of a model's values.
Types infer_types(const std::filesystem::path& model, CompileOptions options);

struct PreparedModel {
  onnx::ModelProto model;
  int folded = 0;  ///< BatchNormalization that went into the weights of the Conv or Gemm before it
};

/// Reads a model in floats and brings it to that opset at least. Its constants become initialisers and nothing else, and batch-norm is folded. Throws Error, and
/// Error{Invalid} for a model that is quantised already.
PreparedModel prepare_model(const std::filesystem::path& path, int64_t opset, const CompileOptions& options);

}  // namespace onnxc
