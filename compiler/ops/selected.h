// What operators leave to compiler/select/, which implements these functions: the choice among fast kernels. Operators say what ONNX says;
// this list is all that they see of tiles, packed weights and costs.
#pragma once
#include "compiler/ops/kernel_query.h"

namespace onnxc {

/// Lowers a Conv for which has_fast_conv holds: select/conv/candidates.cpp.
void lower_fast_conv(KernelQuery& l);
/// What a Conv can do with planar images, for assign_layouts: those of select/conv/conv_planar.cpp.
PlanarUse planar_conv(const Graph& graph, const Node& node, int vector_floats);
/// Lowers a ConvTranspose for which has_fast_conv_transpose holds: select/conv/transpose.cpp.
void lower_fast_conv_transpose(KernelQuery& l);
/// States the candidates for a MatMul for which has_fast_matmul holds and whose sums are not empty: select/product/candidates.cpp.
void lower_fast_matmul(KernelQuery& l);
/// Lowers a pool for which has_fast_pool holds: select/pool/pool.cpp.
void lower_fast_pool(KernelQuery& l);
/// What a pool can do with planar images, for assign_layouts: those of max_pool_planar.
PlanarUse planar_pool(const Graph& graph, const Node& node, int vector_floats);
/// A candidate for an onnxc.Recurrence of f32 by constant weights that are not empty, of `macs` multiply-adds: select/recurrent.cpp.
void consider_fast_recurrence(KernelQuery& l, double macs);
/// Lowers a Gather of rows from a constant table that is stored narrower than f32. Else false, and nothing done: select/gather_table.cpp.
bool lower_stored_table(KernelQuery& l);

}  // namespace onnxc
