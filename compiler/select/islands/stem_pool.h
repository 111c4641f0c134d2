// The first convolution of a network and the max pooling behind it as one kernel: runtime_stub/onnxc/stem_chain.hpp.
#pragma once
#include <vector>

#include "compiler/ops/kernel_query.h"
#include "compiler/select/islands/surroundings.h"

namespace onnxc {

/// The stem before a max pooling, where its image would leave the L2 cache of the target; nothing for others.
std::vector<const Node*> absorbed_by_stem_pool(const Surroundings& around, const Node& pool, const Target& target);

/// Lowers a max pooling that absorbed a stem, as many rows at a time as leave the stem's, which they read, half of L2.
void lower_stem_pool(KernelQuery& pool);

}  // namespace onnxc
