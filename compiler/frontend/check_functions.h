// Checks on a model's functions before they are inlined.
#pragma once
namespace onnx {
class ModelProto;
}

namespace onnxc {

/// Throws if a call does not match its function, a function imports an opset that does not exist, functions call
/// themselves, or inlining would produce too many nodes.
void check_functions(const onnx::ModelProto& model);

}  // namespace onnxc
