// Conv from a planar image of few channels to another: the first layers of a small network. See
// runtime_stub/onnxc/conv_planar.hpp.
#pragma once
#include <vector>

#include "compiler/ops/kernel_query.h"
#include "compiler/select/islands/surroundings.h"

namespace onnxc {

/// Images of at most this many channels are read in the planar layout.
constexpr int64_t kFewChannels = 8;

/// The only candidate where both the input and the result are planar.
void consider_conv_planar(KernelQuery& l);

/// The Conv of a planar image before a 2x2 max pooling of stride 2, if its results can be pooled in registers. Empty
/// otherwise.
std::vector<const Node*> absorbed_by_planar_pool(const Surroundings& around, const Node& pool, const Target& target);
/// Lowers a MaxPool that absorbed such a Conv.
void lower_planar_pool(KernelQuery& pool);

/// Images [n, c, h, w] whose planes are rows, one after the other.
EpilogueShape planes(const Extents& y);
/// Whether operands of the node's epilogue have a form where planes are rows. A value for each channel, which every image repeats, has none.
bool epilogue_fits_planes(const Graph& graph, const Node& node);

}  // namespace onnxc
