// ONNX's inference of types, made safe for models whose types are not all known.
#pragma once

namespace onnxc {

/// ONNX's inference functions "work only under the assumption that the types of all inputs are known", and follow a null pointer where one is not. After this call,
/// in the whole process, they see an empty type instead, and refuse it as one that does not fit. Comes before anything that infers: the inliner, the converter of
/// versions, InferShapes, the checker. Threads may call it, and again.
void guard_inference();

}  // namespace onnxc
