// Layer and root-mean-square normalisation that an exporter wrote as its parts: one kernel instead of five steps, or three.
//
//   d = x - mean(x)                    ReduceSum, Map; root-mean-square: d = x
//   s = sqrt(mean(d d) + epsilon)      Map, ReduceSum with an epilogue; or the reciprocal
//   y = d / s * scale + bias           Map; scale and bias are values along the last axis, and may be absent
#pragma once
#include "compiler/select/islands/surroundings.h"

namespace onnxc {

class KernelQuery;
struct Target;

/// The nodes before `last`, a Map, that make a norm of it over the last axis. f32. Empty where `last` does not end such a chain.
std::vector<const Node*> absorbed_by_norm(const Surroundings& around, const Node& last, const Target& target);
void lower_norm_chain(KernelQuery& last);      ///< on a processor
void lower_gpu_norm_chain(KernelQuery& last);  ///< on a GPU

}  // namespace onnxc
