// The numbers that a function body makes for itself, in the precision of what it is called with.
#pragma once

namespace onnx {
class FunctionProto;
}

namespace onnxc {

/// Bodies of ONNX's schemas write their own numbers, a scale of 1 / sqrt(size) say, as f32 and cast them to the type of the data. For data of f64 these
/// become f64. What is computed from the data stays as the body has it, so a cast of data to f32, which an attribute such as softmax_precision asks for, does, too.
/// Attributes are bound; `body` may have no regions that cast.
void widen_own_numbers(onnx::FunctionProto& body);

}  // namespace onnxc
