// Convolutions and products of bytes on microcontrollers: conv_columns and depthwise_columns.
#pragma once
#include "compiler/select/conv/conv_call.h"
#include "runtime_stub/onnxc/contract/columns.hpp"

namespace onnxc {

/// The rows of the catalogue for one form of columns.
struct ColumnKernels {
  contract::ColumnForm form;
  const char *conv, *depthwise;
};
/// Those of the target's instructions; null if it has vectors, for which quads are faster.
const ColumnKernels* column_kernels(const Target& target);

/// Considers the kernel of an onnxc.ByteConv. False if the target has vectors, or a run finds where sums start.
bool consider_columns(KernelQuery& l, const ConvCall& c);

/// The same for an onnxc.ByteMatMul of `rows` rows.
bool consider_column_product(KernelQuery& l, Dim rows);

}  // namespace onnxc
