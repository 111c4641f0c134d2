// The end of a classifier of images, as one kernel: runtime_stub/onnxc/classifier.hpp.
#pragma once
#include <vector>

#include "compiler/ops/operator.h"

namespace onnxc {

/// Of 1x1 Conv -> ReduceSum of all pixels [-> Reshape] -> MatMul by a constant matrix: what is before the MatMul, where that matrix would leave the L2 cache of the
/// target. Empty where there is no such chain.
std::vector<const Node*> absorbed_by_matmul(const Surroundings& around, const Node& matmul, const Target& target);

/// Lowers such a chain, as its MatMul.
void lower_classifier(Lowering& matmul);

}  // namespace onnxc
