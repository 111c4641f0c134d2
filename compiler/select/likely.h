// What is assumed of extents that only a run knows, where costs are compared.
#pragma once
#include "compiler/ir/dim.h"

namespace onnxc {

inline double likely_extent(Dim d) { return d.is_constant() ? static_cast<double>(d.value()) : 128.0; }

}  // namespace onnxc
