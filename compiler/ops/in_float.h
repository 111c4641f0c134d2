// Operators on f16 and bf16 that are computed in f32 and rounded once.
#pragma once
#include "compiler/ops/operator.h"

namespace onnxc {

inline bool is_half(ElementType type) { return type == ElementType::F16 || type == ElementType::BF16; }

/// The node computed on f32 between casts, if its first input is f16 or bf16; otherwise empty. For decompositions.
std::optional<std::vector<ValueId>> compute_in_float(GraphBuilder& builder, const Node& node);
/// The same in `type`: every input of the first input's type is cast to it, and every output of it is cast back.
std::vector<ValueId> compute_in(GraphBuilder& builder, const Node& node, ElementType type);

/// The value as `type`; the value itself if it has that type.
ValueId cast_to(GraphBuilder& builder, ValueId value, ElementType type);

}  // namespace onnxc
