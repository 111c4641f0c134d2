// Moves a box of elements between two placements: Transpose, Slice, Concat, Expand, Pad and changes of layout are all this.
#pragma once
#include <cstring>

#include "base.hpp"

namespace onnxc::inline ONNXC_ISA {

/// to[sum i_k * to_strides[k]] = from[sum i_k * from_strides[k]] for all i below `shape`. Strides in elements; a `from` stride of 0 repeats, negative
/// ones walk backwards. The two do not overlap. shape.rank >= 1.
template <class T>
void strided_copy(Part part, Shape shape, T* to, Ints to_strides, const T* from, Ints from_strides) {
  const int inner = shape.rank - 1;
  const int64_t length = shape[inner], rows = shape.count(0, inner), to_step = to_strides[inner], from_step = from_strides[inner];
  if (length <= 0 || rows <= 0) return;
  const bool by_rows = rows >= part.count;
  const auto [first_row, last_row] = by_rows ? part.slice(rows) : Part::Range{0, rows};
  const auto [first, last] = by_rows ? Part::Range{0, length} : part.slice(length);
  for (int64_t row = first_row; row < last_row; ++row) {
    T* y = to;
    const T* x = from;
    int64_t index = row;
    for (int axis = inner - 1; axis >= 0; --axis) {
      const int64_t i = index % shape[axis];
      index /= shape[axis];
      y += i * to_strides[axis];
      x += i * from_strides[axis];
    }
    if (to_step == 1 && from_step == 1) {
      if (last > first) std::memcpy(y + first, x + first, static_cast<std::size_t>(last - first) * sizeof(T));
    } else {
      for (int64_t i = first; i < last; ++i) y[i * to_step] = x[i * from_step];
    }
  }
}

}  // namespace onnxc
