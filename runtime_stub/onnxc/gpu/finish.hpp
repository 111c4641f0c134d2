// How a kernel of a GPU applies an epilogue (../expr.hpp): to one value at a time.
#pragma once
#include "../expr.hpp"
#include "device.hpp"

namespace onnxc::inline ONNXC_ISA::gpu::detail {

/// What the epilogue makes of v, which is the result's value at (row, column).
template <class Epi, class V>
ONNXC_DEVICE auto finished(const Epi& epilogue, V v, int64_t row, int64_t column) {
  return epilogue(Scalar{}, v, [&](const auto& form) { return *form.at(row, column); });
}

}  // namespace onnxc::gpu::detail
