// Depthwise convolutions with what is around them as one kernel: runtime_stub/onnxc/depthwise_chain.hpp, stem_chain.hpp.
#pragma once
#include <functional>
#include <vector>

#include "compiler/ops/kernel_query.h"
#include "compiler/select/islands/surroundings.h"

namespace onnxc {

/// Of a chain [1x1 or stem ->] depthwise [-> 1x1] of Convs whose last one is `last`: those before it, where the wide images between them would leave the L2 cache
/// of the target. Empty where there is no such chain.
std::vector<const Node*> absorbed_by_conv_chain(const Surroundings& around, const Node& last, const Target& target);

/// Lowers such a chain, as its last node.
void lower_conv_chain(KernelQuery& last);

/// Elements between pixels of the rows between: whole lines, off multiples of 2 KiB.
int64_t chain_pitch(int64_t channels);
/// Output rows for each band, of one size, so that `floats(rows)` fill half of the target's workspace at most.
int64_t choose_band(const Target& target, int64_t rows, const std::function<int64_t(int64_t)>& floats);
/// Bytes of one image with constant extents.
int64_t image_bytes(const Graph& graph, ValueId value);
/// Conv of images with constant extents but for their number, by constant weights.
bool is_image_conv(const Graph& graph, const Node& node);

/// A 1x1 Conv without strides and pads, of an image of constant extents by constant weights.
bool is_pointwise(const Graph& graph, const Node& node);

}  // namespace onnxc
