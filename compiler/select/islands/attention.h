// Attention on a processor by one kernel, without the matrix of scores.
#pragma once
#include "compiler/select/islands/surroundings.h"

namespace onnxc {

class KernelQuery;
struct Target;

/// The nodes before `last`, a product of probabilities and v or a Transpose behind it, that make attention of it (attention_chain.h).
/// f32, not on small cores. Empty where `last` does not end such a chain.
std::vector<const Node*> absorbed_by_attention(const Surroundings& around, const Node& last, const Target& target);
void lower_attention(KernelQuery& last);

}  // namespace onnxc
