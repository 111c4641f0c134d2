// Conv from a planar image of few channels to few channels, planar too: the first layers of a small network. See runtime_stub/onnxc/conv_planar.hpp.
#pragma once
#include <vector>

#include "compiler/ops/kernel_query.h"
#include "compiler/select/islands/surroundings.h"

namespace onnxc {

/// Images of at most so many channels are read planar.
constexpr int64_t kFewChannels = 8;

/// The only candidate where input and result lie planar.
void consider_conv_planar(KernelQuery& l);

/// The Conv of a planar image before a max pooling by 2x2, stride 2, whose results are pooled in registers; nothing for others.
std::vector<const Node*> absorbed_by_planar_pool(const Surroundings& around, const Node& pool, const Target& target);
/// Lowers MaxPool with such a Conv absorbed.
void lower_planar_pool(KernelQuery& pool);

}  // namespace onnxc
