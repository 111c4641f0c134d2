// Computes the constants of a function body in the precision of the call's inputs.
#pragma once

namespace onnx {
class FunctionProto;
}

namespace onnxc {

/// The bodies in ONNX's schemas write constants, such as a scale of 1 / sqrt(size), in f32 and cast them to the type
/// of the data. For data of f64 this changes them to f64. Values that are computed from data are not changed, and
/// neither is a cast of data to f32, which an attribute such as softmax_precision may ask for. Attributes must be
/// bound, and `body` may have no regions that cast.
void widen_own_numbers(onnx::FunctionProto& body);

}  // namespace onnxc
