// Walking a box of any rank by a linear index: the batches of a matmul, the rows of a map.
#pragma once
#include "base.hpp"

namespace onnxc::inline ONNXC_ISA {

/// The element offset of position `index`, counted row-major over the first `axes` axes of `shape`. A stride of 0 repeats.
ONNXC_INLINE int64_t strided_offset(const Shape& shape, int axes, const Ints& strides, int64_t index) {
  int64_t offset = 0;
  for (int axis = axes - 1; axis >= 0; --axis) {
    if (shape[axis] == 1) continue;
    offset += index % shape[axis] * strides[axis];
    index /= shape[axis];
  }
  return offset;
}

}  // namespace onnxc
