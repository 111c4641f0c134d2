// Attributes that a call of a model's function omits get the defaults that the function states
// (FunctionProto.attribute_proto).
//
//   function Bend(x) {height = 2.0} = Elu(x) {alpha = @height}
//   y = own.Bend(x)                   becomes   y = own.Bend(x) {height = 2.0}
#pragma once

namespace onnx {
class ModelProto;
}

namespace onnxc {

/// Completes every call that is reachable from the main graph. ONNX's inliner (as of 1.23.2) binds the attributes of
/// a call and removes references to all others. So this runs before it, and can go once the inliner binds defaults
/// itself. Functions must not call themselves.
void complete_calls(onnx::ModelProto& model);

}  // namespace onnxc
