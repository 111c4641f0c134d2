// Functions of a model, before they are inlined.
#pragma once
namespace onnx {
class ModelProto;
}

namespace onnxc {

/// Throws where a call does not fit its function, where a function imports an opset that does not exist, where functions call themselves, and where they would
/// become too many nodes.
void check_functions(const onnx::ModelProto& model);

}  // namespace onnxc
