// The coordinates of an element, for kernels that visit tensors of any rank.
#pragma once
#include "../base.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

/// Counts up through `shape` in row-major order, from all zeros.
struct Position {
  Shape shape;
  int64_t at[kMaxRank] = {};

  constexpr int64_t operator[](int axis) const { return at[axis]; }
  /// To the element of this row-major index.
  constexpr void go_to(int64_t index) {
    for (int axis = shape.rank - 1; axis >= 0; --axis) {
      at[axis] = index != 0 ? index % shape[axis] : 0;
      index = index != 0 ? index / shape[axis] : 0;
    }
  }
  constexpr void next() {
    for (int axis = shape.rank - 1; axis >= 0; --axis) {
      if (++at[axis] < shape[axis]) return;
      at[axis] = 0;
    }
  }
};

}  // namespace onnxc::scalar
