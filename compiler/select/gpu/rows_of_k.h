// Operands of a GPU's products: rows of k that begin at whole accesses of 16 bytes and end in zeros (contract/gpu.hpp).
#pragma once
#include "compiler/ops/kernel_query.h"
#include "runtime_stub/onnxc/contract/gpu.hpp"

namespace onnxc {

/// Bytes of a float or of a byte.
inline int64_t gpu_bytes(ElementType element) { return held_bits(element) / 8; }
/// The elements from one row of k to the next.
inline Dim gpu_row_of(Dim k, ElementType element) { return contract::gpu::row_of(k, gpu_bytes(element)); }

struct RowsOfK {
  PointerArg data;
  Dim stride;  ///< elements from one row to the next
};

/// Where matrices lie: element (z, row, i) of `count` of them is at z * step + row * from_row + i * from_k.
struct StridedRows {
  Dim count = 1, rows, k;
  Dim step = 0, from_row, from_k;
};

/// The same as they lie, where that is rows of k, else copied to a workspace of that name.
RowsOfK rows_of_k(KernelQuery& l, const char* name, const View& x, const StridedRows& from);

/// Multiply-adds of a word of four bytes take so much of the time of one of f32.
constexpr double kGpuByteTime = 1.0 / 3;
/// Whether the epilogue has a form for one operand more, if the node has a bias, which becomes one.
inline bool has_room_for_bias(const KernelQuery& l) { return !l.has(2) || l.node().epilogue_operands < kMostEpilogueOperands; }

/// How products of f32 are made of a tensor core's: gpu/product_kind.hpp. With --math=strict they are not candidates.
inline bool may_round_to_tf32(const KernelQuery& l) { return l.math() == Math::Fast || l.math() == Math::Bf16; }
inline const char* gpu_float_kind(const KernelQuery& l) { return may_round_to_tf32(l) ? "gpu::OnceTf32" : "gpu::ThreeTf32"; }

/// By how much of the time of three products that is.
inline double gpu_float_time(const KernelQuery& l) { return may_round_to_tf32(l) ? 1.0 / 3 : 1.0; }

/// Adds arguments for blocks that share k, if the plan has such.
struct GpuTilePlan;
void add_splits(KernelQuery& l, StepBuilder& step, const GpuTilePlan& plan, ElementType sums, NamedArgs& params);

}  // namespace onnxc
