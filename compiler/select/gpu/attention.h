// Attention on a GPU by one kernel, without the matrix of scores.
#pragma once
#include "compiler/select/islands/surroundings.h"

namespace onnxc {

class KernelQuery;
struct Target;

/// The nodes before `last`, a MatMul of probabilities and v: a Softmax over keys, a scale and a mask, the MatMul of q and k.
/// f32 on a GPU. Empty where `last` does not end such a chain.
std::vector<const Node*> absorbed_by_gpu_attention(const Surroundings& around, const Node& last, const Target& target);
void lower_gpu_attention(KernelQuery& last);

}  // namespace onnxc
