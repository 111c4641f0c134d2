// What the operators of ai.onnx.preview.training share.
#pragma once
#include "compiler/ops/operator.h"

namespace onnxc {

inline constexpr std::string_view kTrainingDomain = "ai.onnx.preview.training";

}  // namespace onnxc
