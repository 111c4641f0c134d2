// Checks on a model's functions before they are inlined.
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

/// For a model that has functions. Throws if a call does not match its function, a function imports an opset that does not exist, functions call
/// themselves, a node of a body is not as its opset has it, or inlining would produce more than `max_nodes` nodes: by default
/// 100 times those that are written, but at least 40,000 and at most 2,000,000. `opsets`: those of the model; `knows`, `replaces`: as Schemas has them.
void check_functions(const onnx::ModelProto& model, const std::map<std::string, int64_t>& opsets, const Schemas::Predicate& knows,
                     const Schemas::Predicate& replaces, std::optional<int64_t> max_nodes = {});

/// Throws Budget if the model has more nodes, those of regions included; by default 2,000,000.
void check_node_count(const onnx::ModelProto& model, std::optional<int64_t> max_nodes);

}  // namespace onnxc
