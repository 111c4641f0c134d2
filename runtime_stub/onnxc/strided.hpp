// Positions in boxes of any rank: by a linear index (the batches of a matmul, the rows of a map), in grids of pixels,
// under a window.
#pragma once
#include "base.hpp"

namespace onnxc::inline ONNXC_ISA {

/// The element offset of position `index`, counted row-major over the first `axes` axes of `shape`. A stride of 0 repeats.
ONNXC_BOTH int64_t strided_offset(const Shape& shape, int axes, const Ints& strides, int64_t index) {
  int64_t offset = 0;
  for (int axis = axes - 1; axis >= 0; --axis) {
    if (shape[axis] == 1) continue;
    offset += index % shape[axis] * strides[axis];
    index /= shape[axis];
  }
  return offset;
}

/// A point (n, y, x) in a grid of rows * columns points for each n, in row-major order. It steps without dividing,
/// because a division of 64 bits takes as long as a hundred multiply-adds of vectors on some processors. A grid without
/// rows or columns has no points, but may be asked for its first.
struct GridPoint {
  int64_t rows, columns, x, y, n;
  ONNXC_BOTH GridPoint(int64_t index, int64_t grid_rows, int64_t grid_columns)
      : rows(grid_rows > 0 ? grid_rows : 1),
        columns(grid_columns > 0 ? grid_columns : 1),
        x(index % columns),
        y(index / columns % rows),
        n(index / columns / rows) {}
  ONNXC_BOTH void advance(int64_t by = 1) {
    for (x += by; x >= columns;) {
      x -= columns;
      if (++y < rows) continue;
      y = 0;
      ++n;
    }
  }
};

/// Taps t in [first, last) of a window from `origin` fall into [low, high).
struct Window {
  int64_t first, last;
  constexpr Window(int64_t origin, int64_t taps, int64_t dilation, int64_t low, int64_t high)
      : first(origin >= low ? 0 : (low - origin + dilation - 1) / dilation),
        last(origin >= high ? 0 : (high - origin + dilation - 1) / dilation) {
    if (last > taps) last = taps;
    if (first > last) first = last;
  }
  constexpr int64_t count() const { return last - first; }
};

/// What a walk moves: the address of element 0, and a stride in elements for each axis.
template <class T>
struct Walked {
  T* data;
  Ints outer;
};
template <class T>
Walked(T*, Ints) -> Walked<T>;

/// Calls visit(position, pointers...) for the positions [first, last), counted row-major over the first `axes` axes of
/// `shape`. An operand has the members of Walked. There is one division for each row of positions, not for each
/// position.
template <class Visit, class... Operands>
ONNXC_BOTH void walk(const Shape& shape, int axes, int64_t first, int64_t last, Visit visit, const Operands&... operands) {
  const int64_t length = axes == 0 ? 1 : shape[axes - 1];
  for (int64_t start = first; start < last;) {
    const int64_t left = length - start % length, count = left < last - start ? left : last - start;
    const auto walk_row = [&](auto*... at) {
      for (int64_t i = 0; i < count; ++i) visit(start + i, at + (length == 1 ? 0 : i * operands.outer[axes - 1])...);
    };
    walk_row(operands.data + strided_offset(shape, axes, operands.outer, start)...);
    start += count;
  }
}

}  // namespace onnxc
