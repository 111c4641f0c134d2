// Constant vectors in panels, as runtime_stub/onnxc/pairwise.hpp reads them.
#pragma once
#include <span>
#include <string>

#include "compiler/ops/kernel_query.h"

namespace onnxc {

/// Whether the second input of an onnxc.Distances is a constant of f32 that is not empty.
bool has_packable_vectors(const Graph& graph, const Node& distances);

/// Vectors [count, features] as columns of panels.
PointerArg pack_vectors(KernelQuery& l, const std::string& from, std::span<const float> vectors, int64_t count, int64_t features);
PointerArg pack_vectors(KernelQuery& l, const TensorData& vectors);

/// What tiles spend on `macs` for that many vectors: whole panels.
double panel_macs(KernelQuery& l, double macs, int64_t vectors);
/// The same of an onnxc.Distances, of all rows or of one where their number is not known.
double distance_macs(KernelQuery& distances);

}  // namespace onnxc
