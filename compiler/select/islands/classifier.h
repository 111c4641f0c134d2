// The end of a classifier of images, as one kernel: runtime_stub/onnxc/classifier.hpp.
#pragma once
#include <vector>

#include "compiler/ops/kernel_query.h"
#include "compiler/select/islands/surroundings.h"

namespace onnxc {

/// For the chain 1x1 Conv -> ReduceSum of all pixels [-> Reshape] -> product by a constant matrix, which is a MatMul
/// or a 1x1 Conv of the one pixel that is left: the nodes before `last`, if the matrix would not stay in the target's
/// L2 cache. Empty where there is no such chain.
std::vector<const Node*> absorbed_by_classifier(const Surroundings& around, const Node& last, const Target& target);

/// Lowers such a chain, as its last node.
void lower_classifier(KernelQuery& last);

}  // namespace onnxc
