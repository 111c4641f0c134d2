// Attributes that a call of a model's function leaves out get the defaults that the function states (FunctionProto.attribute_proto).
//
//   function Bend(x) {height = 2.0} = Elu(x) {alpha = @height}
//   y = own.Bend(x)                   becomes   y = own.Bend(x) {height = 2.0}
#pragma once

namespace onnx {
class ModelProto;
}

namespace onnxc {

/// Completes every call that can be reached from the main graph. ONNX's inliner (as of 1.23.2) binds what a call states and drops references to
/// everything else, so this runs before it, and can go once the inliner binds defaults itself. Functions must not call themselves.
void complete_calls(onnx::ModelProto& model);

}  // namespace onnxc
