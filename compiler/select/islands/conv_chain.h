// Depthwise convolutions and their neighbours as one kernel: runtime_stub/onnxc/depthwise_chain.hpp, stem_chain.hpp.
#pragma once
#include <functional>
#include <vector>

#include "compiler/ops/kernel_query.h"
#include "compiler/select/islands/surroundings.h"

namespace onnxc {

/// For the chain [1x1 or stem ->] depthwise [-> 1x1] of Convs that ends with `last`: the nodes before `last`, if the
/// wide images between them would not stay in the target's L2 cache. Empty where there is no such chain.
std::vector<const Node*> absorbed_by_conv_chain(const Surroundings& around, const Node& last, const Target& target);

/// Lowers such a chain, as its last node.
void lower_conv_chain(KernelQuery& last);

/// Elements from one pixel of the intermediate rows to the next: whole cache lines, but no multiple of 2 KiB, since
/// such pixels would share cache sets.
int64_t chain_pitch(int64_t channels);
/// Output rows of a band. Bands have the same size, and `floats(rows)` fill at most half of the target's workspace.
int64_t choose_band(const Target& target, int64_t rows, const std::function<int64_t(int64_t)>& floats);
/// Bytes of one image with constant extents.
int64_t image_bytes(const Graph& graph, ValueId value);
/// Whether the node is a Conv of images by constant weights, with constant extents except for the number of images.
bool is_image_conv(const Graph& graph, const Node& node);

/// Whether the node is such a Conv by 1x1 kernels, without strides and pads.
bool is_pointwise(const Graph& graph, const Node& node);

}  // namespace onnxc
