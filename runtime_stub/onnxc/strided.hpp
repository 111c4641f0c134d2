// Positions in boxes of any rank: by a linear index (the batches of a matmul, the rows of a map), in grids of pixels,
// under a window.
#pragma once
#include "base.hpp"

namespace onnxc::inline ONNXC_ISA {

/// The element offset of position `index`, counted row-major over the first `axes` axes of `shape`. A stride of 0 repeats.
ONNXC_BOTH Index strided_offset(const Shape& shape, int axes, const Ints& strides, Index index) {
  Index offset = 0;
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
  Index rows, columns, x, y, n;
  ONNXC_BOTH GridPoint(Index index, Index grid_rows, Index grid_columns)
      : rows(grid_rows > 0 ? grid_rows : 1),
        columns(grid_columns > 0 ? grid_columns : 1),
        x(index % columns),
        y(index / columns % rows),
        n(index / columns / rows) {}
  ONNXC_BOTH void advance(Index by = 1) {
    for (x += by; x >= columns;) {
      x -= columns;
      if (++y < rows) continue;
      y = 0;
      ++n;
    }
  }
};

/// Taps t in [first, last) of a window from `origin` fall into [low, high).
struct TapSpan {
  Index first, last;
  constexpr TapSpan(Index origin, Index taps, Index dilation, Index low, Index high)
      : first(origin >= low ? 0 : (low - origin + dilation - 1) / dilation),
        last(origin >= high ? 0 : (high - origin + dilation - 1) / dilation) {
    if (last > taps) last = taps;
    if (first > last) first = last;
  }
  constexpr Index count() const { return last - first; }
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
ONNXC_BOTH void walk(const Shape& shape, int axes, Index first, Index last, Visit visit, const Operands&... operands) {
  const Index length = axes == 0 ? 1 : shape[axes - 1];
  for (Index start = first; start < last;) {
    const Index left = length - start % length, count = left < last - start ? left : last - start;
    const auto walk_row = [&](auto*... at) {
      for (Index i = 0; i < count; ++i) visit(start + i, at + (length == 1 ? 0 : i * operands.outer[axes - 1])...);
    };
    walk_row(operands.data + strided_offset(shape, axes, operands.outer, start)...);
    start += count;
  }
}

}  // namespace onnxc
