// The first convolution of a network and the max pooling after it as one kernel: runtime_stub/onnxc/stem_chain.hpp.
#pragma once
#include <vector>

#include "compiler/ops/kernel_query.h"
#include "compiler/select/islands/surroundings.h"

namespace onnxc {

/// The stem before a max pooling, if its image would not stay in the target's L2 cache. Empty otherwise.
std::vector<const Node*> absorbed_by_stem_pool(const Surroundings& around, const Node& pool, const Target& target);

/// Lowers a max pooling that absorbed a stem. A band takes as many rows as it can while the stem's rows under it fill
/// at most half of L2.
void lower_stem_pool(KernelQuery& pool);

}  // namespace onnxc
