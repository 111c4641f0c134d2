// What reductions share with operators that consist of them.
#pragma once
#include "compiler/ops/kernel_query.h"
#include "runtime_stub/onnxc/base.hpp"

namespace onnxc {

/// The axes that a Reduce* node reduces: sorted, without repetition. Empty if they are not known yet.
std::optional<std::vector<int>> reduced_axes(const Graph& graph, const Node& node);

/// Whether the node is a ReduceSum of an image [n, c, h, w] over its pixels.
bool sums_pixels(const Graph& graph, const Node& node);

/// The axes of a tensor that is reduced, with its strides: for scalar::reduce.
struct ReductionWalk {
  Shape kept, reduced;
  Ints kept_strides, reduced_strides;
};
/// Of input 0 along the axes of input 1, if there is one.
ReductionWalk reduction_walk(const Evaluation& e);
/// scalar::reduce for any type, and axes that only a run may know, and the node's epilogue.
void lower_scalar_reduce(KernelQuery& l, ElementType sums);

/// The kernels that reduce in passes over memory, one along each run of axes.
struct PassKernels {
  std::string_view last, middle;     ///< rows of the catalogue
  std::string_view name_space = "";  ///< of what they combine by
  std::string_view keep = "Keep";    ///< the prologue that changes nothing
};
/// Lowers a reduction of f32 over axes that are known.
void lower_in_passes(KernelQuery& l, const PassKernels& kernels);

/// Lowers an onnxc.ByteSum by one of these, whose prologue and combination are those of a sum.
void lower_byte_sum(KernelQuery& l, const PassKernels& kernels);

/// The means along `axes`, which stay with extent 1.
ValueId mean_along(GraphBuilder& builder, ValueId x, std::vector<int64_t> axes);
/// The number of elements along `axes`, as a scalar of `type`.
ValueId count_along(GraphBuilder& builder, ValueId x, const std::vector<int64_t>& axes, ElementType type);

}  // namespace onnxc
