// What operators leave to compiler/select/, which implements these functions: the choice among fast kernels.
// Operators know what ONNX says; of tiles, packed weights and costs they see only this list.
#pragma once
#include "compiler/ops/kernel_query.h"

namespace onnxc {

/// Lowers a Conv for which has_fast_conv holds: select/conv/candidates.cpp.
void lower_fast_conv(KernelQuery& l);
/// What a Conv can do with planar images, for assign_layouts, given the kernels of select/conv/conv_planar.cpp.
PlanarUse planar_conv(const Graph& graph, const Node& node, int vector_floats);
/// Lowers a ConvTranspose for which has_fast_conv_transpose holds: select/conv/transpose.cpp.
void lower_fast_conv_transpose(KernelQuery& l);
/// States the candidates for a MatMul for which has_fast_matmul holds and whose sums are not empty: select/product/candidates.cpp.
void lower_fast_matmul(KernelQuery& l);
/// Lowers a pool for which has_fast_pool holds: select/pool/pool.cpp.
void lower_fast_pool(KernelQuery& l);
/// Lowers a pool for which has_byte_pool holds.
void lower_byte_pool(KernelQuery& l);
/// What a pool can do with planar images, for assign_layouts, given the kernel max_pool_planar.
PlanarUse planar_pool(const Graph& graph, const Node& node, int vector_floats);
/// States a candidate for an f32 onnxc.Recurrence with constant weights that are not empty; `macs`: its
/// multiply-adds. See select/recurrent.cpp.
void consider_fast_recurrence(KernelQuery& l, double macs);
/// The same where R is of bytes, and nothing if it is not constant: select/recurrent_bytes.cpp.
void consider_byte_recurrence(KernelQuery& l, double macs);
/// States the candidates for a tree ensemble beside its scalar kernel: select/forest/candidates.cpp.
struct ForestCall;
void consider_fast_forest(KernelQuery& l, const ForestCall& call);
/// States the candidates for a support vector machine with vectors beside its scalar kernel: select/svm/candidates.cpp.
struct SvmCall;
void consider_fast_svm(KernelQuery& l, const SvmCall& call);
/// The same for onnxc.Distances, whose second input may be a constant of f32.
void consider_fast_distances(KernelQuery& l);
/// Lower an onnxc.ByteConv and an onnxc.ByteMatMul for which has_fast_byte_product holds: select/conv/byte_conv.cpp,
/// select/product/byte_matmul.cpp.
void lower_fast_byte_conv(KernelQuery& l);
void lower_fast_byte_matmul(KernelQuery& l);
/// Lowers an onnxc.ByteConv for a microcontroller, whatever its groups and windows. Otherwise it does nothing and returns false:
/// select/conv/byte_columns.cpp.
bool lower_byte_columns(KernelQuery& l);
/// Lowers an onnxc.CentredMatMul of matrices, or of stacks of them, whose sums are not empty: select/product/byte_matmul.cpp.
void lower_fast_centred_matmul(KernelQuery& l);
/// Lowers a MatMulNBits of f32 whose weights are constant and which has neither bias nor g_idx: select/product/nbits.cpp.
void lower_fast_nbits(KernelQuery& l);
/// States the candidate for a GatherBlockQuantized of rows of a constant matrix, of which a run reads so many bytes: select/product/nbits_table.cpp.
void consider_packed_rows(KernelQuery& l, double bytes);
/// Lowers a Gather of rows from a constant table that is stored in a type narrower than f32. Otherwise it does
/// nothing and returns false. See select/gather_table.cpp.
bool lower_stored_table(KernelQuery& l);

}  // namespace onnxc
