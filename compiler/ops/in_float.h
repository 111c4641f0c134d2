// Operators on f16 and bf16 that are computed in f32 and rounded once.
#pragma once
#include "compiler/ops/operator.h"

namespace onnxc {

inline bool is_half(ElementType type) { return type == ElementType::F16 || type == ElementType::BF16; }

/// The node on f32 between casts, where its first input is f16 or bf16; else nothing. For decompositions.
std::optional<std::vector<ValueId>> compute_in_float(GraphBuilder& builder, const Node& node);
/// The same in `type`: every input of the first input's type is cast to it, and every output of that type back.
std::vector<ValueId> compute_in(GraphBuilder& builder, const Node& node, ElementType type);

/// The value as `type`; itself where it has it.
ValueId cast_to(GraphBuilder& builder, ValueId value, ElementType type);

}  // namespace onnxc
