// The functions of a model, put in the places of their calls.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "compiler/frontend/schemas.h"

namespace onnx {
class ModelProto;
}

namespace onnxc {

/// Checks the functions, as check_functions has it, and inlines them: afterwards the model has no call of them. Throws Error{Invalid, Unsupported, Budget}.
void inline_functions(onnx::ModelProto& model, const std::map<std::string, int64_t>& opsets, const Schemas::Predicate& knows,
                      const Schemas::Predicate& replaces, std::optional<int64_t> max_nodes = {});

}  // namespace onnxc
