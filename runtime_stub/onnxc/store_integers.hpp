// Writes extents that are known when a run starts into a tensor of integers.
#pragma once
#include "base.hpp"

namespace onnxc::inline ONNXC_ISA {

/// y[i] = values[i].
template <class T>
ONNXC_ANYWHERE void store_integers(T* y, const Ints& values) {
  for (int i = 0; i < values.size; ++i) y[i] = static_cast<T>(values[i]);
}

}  // namespace onnxc
