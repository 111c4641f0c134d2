// Kernels of a GPU that pick rows or elements by indices, or place them. Each function lowers a node of the operator that it names, or returns false.
#pragma once
#include "compiler/ops/kernel_query.h"

namespace onnxc {

bool lower_gpu_gather(KernelQuery& l);           ///< Gather; false where it is a view
bool lower_gpu_gather_nd(KernelQuery& l);        ///< GatherND
bool lower_gpu_gather_elements(KernelQuery& l);  ///< GatherElements
bool lower_gpu_scatter(KernelQuery& l);          ///< ScatterND, ScatterElements; false where they combine

}  // namespace onnxc
