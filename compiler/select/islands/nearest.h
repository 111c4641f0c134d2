// Distances to constant vectors and the TopK of them as one kernel: runtime_stub/onnxc/distances.hpp.
#pragma once
#include <vector>

#include "compiler/ops/kernel_query.h"
#include "compiler/select/islands/surroundings.h"

namespace onnxc {

/// The onnxc.Distances before a TopK of their rows. Empty otherwise.
std::vector<const Node*> absorbed_by_nearest(const Surroundings& around, const Node& top_k, const Target& target);

/// Lowers a TopK that absorbed distances.
void lower_nearest(KernelQuery& top_k);

}  // namespace onnxc
