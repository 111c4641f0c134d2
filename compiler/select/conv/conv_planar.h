// Conv from a planar image of few channels to few channels, planar too: the first layers of a small network. See runtime_stub/onnxc/conv_planar.hpp.
#pragma once
#include "compiler/ops/kernel_query.h"

namespace onnxc {

/// Images of at most so many channels are read planar.
constexpr int64_t kFewChannels = 8;

/// What Conv can do with planar images, for assign_layouts.
PlanarUse planar_conv(const Graph& graph, const Node& node, int vector_floats);

/// The only candidate where input and result lie planar.
void consider_conv_planar(KernelQuery& l);

/// Whether node `conv` is a Conv that, where it writes planar images and its epilogue has no operands, has a kernel that pools its results by 2x2, stride 2, in registers.
bool planar_conv_pools(const Graph& graph, const Node& conv, const Target& target);
/// Lowers MaxPool with such a Conv absorbed.
void lower_planar_conv_pool(KernelQuery& pool);

}  // namespace onnxc
