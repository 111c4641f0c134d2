// Replaces operators that onnxc does not know by the function bodies in ONNX's schemas.
#pragma once
#include <functional>
#include <string>

namespace onnx {
class ModelProto;
}

namespace onnxc {

/// The domain of a node that precedes a body and checks the call's inputs as the operator would. Its `overload` is
/// the operator's own domain.
inline constexpr char kVerifyDomain[] = "onnxc.verify";

/// Replaces every node for which `knows(domain, op)` is false and whose schema has a function body, also in subgraphs
/// and in the bodies themselves. Bodies that depend on the types of their inputs are built with the types that ONNX's
/// shape inference finds. Nodes without a body stay.
void expand_functions(onnx::ModelProto& model, const std::function<bool(const std::string& domain, const std::string& op)>& knows);

}  // namespace onnxc
