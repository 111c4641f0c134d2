// Operators on f16 and bf16 that are computed in f32 and rounded once.
#pragma once
#include <map>

#include "compiler/ops/operator.h"

namespace onnxc {

/// The node computed on f32 between casts, if its first input is f16 or bf16; otherwise empty. For decompositions.
std::optional<std::vector<ValueId>> compute_in_float(GraphBuilder& builder, const Node& node);
/// The same in `type`: every input of the first input's type is cast to it, and every output of it is cast back.
std::vector<ValueId> compute_in(GraphBuilder& builder, const Node& node, ElementType type);

/// Values of f16 and bf16 that were computed in f32, or moved from there; each with the value of f32 that equals it, or
/// kAbsent where it must be cast.
using Rounded = std::map<ValueId, ValueId>;
/// The node computed in f32 between casts, which passes join with their neighbours, if it has operands of f16 or bf16 and is
/// elementwise, a product, a convolution or a pool; or if it only moves values, of which the first are in `rounded`. Adds its
/// outputs to `rounded`. Empty if the node stays.
std::optional<std::vector<ValueId>> compute_rounded(GraphBuilder& builder, const Node& node, Rounded& rounded);
/// The value as `type`; the value itself if it has that type.
ValueId cast_to(GraphBuilder& builder, ValueId value, ElementType type);

}  // namespace onnxc
