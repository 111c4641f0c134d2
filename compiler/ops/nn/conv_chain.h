// Depthwise convolutions with the 1x1 convolutions around them as one kernel: runtime_stub/onnxc/depthwise_chain.hpp.
#pragma once
#include <vector>

#include "compiler/ops/operator.h"

namespace onnxc {

/// Of a chain [1x1 ->] depthwise [-> 1x1] of Convs whose last one is `last`: those before it, where the wide images between them would leave the L2 cache
/// of the target. Empty where there is no such chain.
std::vector<const Node*> absorbed_by_conv(const Surroundings& around, const Node& last, const Target& target);

/// Lowers such a chain, as its last node.
void lower_conv_chain(Lowering& last);

/// A 1x1 Conv without strides and pads, of an image of constant extents by constant weights.
bool is_pointwise(const Graph& graph, const Node& node);

/// Convs that kernels for constant f32 weights do.
bool has_fast_conv(const Graph& graph, const Node& node);

}  // namespace onnxc
