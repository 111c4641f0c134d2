// Checks on a model's functions before they are inlined.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "compiler/frontend/schemas.h"

namespace onnx {
class ModelProto;
}

namespace onnxc {

/// Throws if a call does not match its function, a function imports an opset that does not exist, functions call
/// themselves, inlining would produce too many nodes, or a node of a body is not as its opset has it. `opsets`: those of the model;
/// `knows`, `replaces`: as Schemas has them.
void check_functions(const onnx::ModelProto& model, const std::map<std::string, int64_t>& opsets, const Schemas::Predicate& knows,
                     const Schemas::Predicate& replaces);

}  // namespace onnxc
